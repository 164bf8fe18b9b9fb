/** Which texts are names that links can be made on, and that loading the suffix list does not slow down a start. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { parseDomain } from '../../src/cli/domains.ts';
import { canBeShareDomain } from '../../src/core/share-domain.ts';
import { createDomainNameParser } from '../../src/ops/dns.ts';
import { announceSeed } from '../support/run-seed.ts';
import { repositoryRoot } from '../support/started-server.ts';
import { addressesInDisguise, namesOfNobody, textsAroundNames } from './ssrf-corpus.ts';

const parse = createDomainNameParser('mayfly.example');

async function problemOf(text: string) {
  const parsed = await parse(text);
  return 'problem' in parsed ? parsed.problem : parsed;
}

const piece = fc.oneof(
  fc.string(),
  fc.domain(),
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom('.', '.4', '.0x', 'xn--', '%2e', '。', 'ß'),
);
/** Much of it is no name. */
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));

describe('a domain name', () => {
  it('has one spelling, and is taken apart at its public suffix', async () => {
    for (const text of ['secrets.example.co.uk', 'Secrets.EXAMPLE.co.uk', 'secrets.example.co.uk.']) {
      expect(await problemOf(text)).toEqual({
        name: 'secrets.example.co.uk',
        unicodeName: 'secrets.example.co.uk',
        baseDomain: 'example.co.uk',
        subdomain: 'secrets',
        publicSuffix: 'co.uk',
      });
    }
    expect(await problemOf('example.com')).toMatchObject({ baseDomain: 'example.com', subdomain: '' });
    expect(await problemOf('a.b.example.com')).toMatchObject({ subdomain: 'a.b' });
  });

  it('may be written in any script, and is kept in ASCII form', async () => {
    for (const text of [
      'geheim.bücher.de',
      'Geheim.BÜCHER.de',
      'geheim.xn--bcher-kva.de',
      'geheim。bücher。de',
    ]) {
      expect(await problemOf(text)).toMatchObject({
        name: 'geheim.xn--bcher-kva.de',
        unicodeName: 'geheim.bücher.de',
        baseDomain: 'xn--bcher-kva.de',
      });
    }
    expect(await problemOf('食狮.公司.cn')).toMatchObject({ publicSuffix: 'xn--55qx5d.cn', subdomain: '' });
  });

  it('may stand below a suffix that a company gives names under', async () => {
    expect(await problemOf('jo.github.io')).toMatchObject({ baseDomain: 'jo.github.io', subdomain: '' });
  });

  it('is not accepted when anyone can register below it', async () => {
    for (const text of ['com', 'co.uk', 'github.io', 'CO.UK.', 'anything.ck', 'xn--fiqs8s'])
      expect([text, await problemOf(text)]).toEqual([text, 'public_suffix']);
  });

  it('is not accepted without a suffix of the public internet', async () => {
    for (const text of namesOfNobody) expect([text, await problemOf(text)]).toEqual([text, 'not_public']);
  });

  it('is no address in any spelling', async () => {
    for (const text of addressesInDisguise)
      expect([text, await problemOf(text)]).toEqual([text, 'ip_address']);
  });

  it('stands alone: no scheme, port, path, user, pattern or blank', async () => {
    for (const text of textsAroundNames) expect([text, await problemOf(text)]).toEqual([text, 'malformed']);
    expect(await problemOf('')).toBe('missing');
  });

  it('has labels of 1 to 63 characters, at most ten of them, and 253 in all', async () => {
    const label = 'a'.repeat(63);
    expect(await problemOf(`${label}.com`)).toMatchObject({ name: `${label}.com` });
    expect(await problemOf(`a${label}.com`)).toBe('malformed');
    expect(await problemOf(`${label}.${label}.${label}.${'a'.repeat(57)}.com`)).toMatchObject({
      publicSuffix: 'com',
    });
    expect(await problemOf(`${label}.${label}.${label}.${'a'.repeat(58)}.com`)).toBe('malformed');
    expect(await problemOf(`${'a.'.repeat(9)}com`)).toMatchObject({ publicSuffix: 'com' });
    expect(await problemOf(`${'a.'.repeat(10)}com`)).toBe('malformed');
    expect(await problemOf('ü'.repeat(60).concat('.com'))).toBe('malformed');
  });

  it("is not the site's own", async () => {
    for (const text of ['mayfly.example', 'Mayfly.Example.']) expect(await problemOf(text)).toBe('own_host');
  });

  it('comes out of whatever is typed in one spelling that parses to itself, or not at all', async () => {
    const seed = announceSeed('domain names');
    await fc.assert(
      fc.asyncProperty(text, async (typed) => {
        const parsed = await parse(typed);
        if ('problem' in parsed) return;
        expect(parsed.name).toMatch(
          /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*$/,
        );
        expect(await parse(parsed.name)).toEqual(parsed);
      }),
      { seed, numRuns: 2_000 },
    );
  });
});

describe('a name that an operator adds', () => {
  it('is never taken for one that cannot be a share domain, and so never looked up', () => {
    const seed = announceSeed('names of operators');
    fc.assert(
      fc.property(text, (typed) => {
        let name: string;
        try {
          name = parseDomain(typed);
        } catch {
          return;
        }
        expect([name, canBeShareDomain(name)]).toEqual([name, true]);
      }),
      {
        seed,
        numRuns: 10_000,
        examples: [['a.b'], ['secrets.intern'], ['links.4com'], ['x.0xyz'], ['x.4-']],
      },
    );
  });
});

describe('the list of public suffixes', () => {
  it('is loaded by the first name that is asked about, and by nothing before', async () => {
    const script = `
      const { createDomainNameParser } = await import('./src/ops/dns.ts');
      await import('./src/app.ts');
      const isLoaded = () => Object.keys(require.cache).some((path) => path.includes('tldts'));
      const parse = createDomainNameParser('mayfly.example');
      const before = isLoaded();
      await parse('nonsense..example');
      const after = isLoaded();
      await parse('example.com');
      console.log(JSON.stringify([before, after, isLoaded()]));`;
    const child = Bun.spawn([process.execPath, '-e', script], {
      cwd: repositoryRoot,
      stdout: 'pipe',
      stderr: 'inherit',
    });
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual([false, false, true]);
    expect(await child.exited).toBe(0);
  });
});
