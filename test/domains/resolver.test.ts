/** The resolver against a real name server: how it handles honest, failing, lying and silent ones. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { createResolver } from '../../src/ops/dns.ts';
import { type NameServer, openNameServer } from './name-server.ts';

let server: NameServer;
beforeAll(async () => {
  server = await openNameServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const resolver = () => createResolver([server.address]);
/** For servers whose silence the test waits out. */
const soon = { limitMs: 250, firstTryMs: 60 };
const impatient = () => createResolver([server.address], soon);
const found = (...values: string[]) => ({ outcome: 'found', values }) as const;
const none = { outcome: 'none' } as const;
const failed = { outcome: 'failed' } as const;
const asked = (name: string) => server.questions.filter((question) => question.name === name);

describe('the resolver', () => {
  it('tells what is there: texts, aliases in lower case, addresses of both kinds', async () => {
    server.set('a.example.com', { txt: ['one'], a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8::1'] });
    server.set('b.example.com', { cname: 'A.Example.Com' });
    expect(await resolver().txt('a.example.com')).toEqual(found('one'));
    expect(await resolver().addresses('a.example.com')).toEqual(
      found('192.0.2.1', '192.0.2.2', '2001:db8::1'),
    );
    expect(await resolver().cname('b.example.com')).toEqual(found('a.example.com'));
    expect(await resolver().addresses('b.example.com')).toMatchObject({ outcome: 'found' });
  });

  it('joins the strings of a record that was cut', async () => {
    server.set('cut.example.com', { txt: [['0123456789abcdef', '0123456789abcdef']] });
    const answer = await resolver().txt('cut.example.com');
    expect(answer.outcome === 'found' && answer.values).toContain('0123456789abcdef0123456789abcdef');
  });

  it('tells apart what is not there and what cannot be known', async () => {
    server.set('bare.example.com', {});
    expect(await resolver().txt('nothing.example.com')).toEqual(none);
    for (const ask of ['txt', 'cname', 'addresses'] as const)
      expect([ask, await resolver()[ask]('bare.example.com')]).toEqual([ask, none]);
    for (const treatment of [
      'servfail',
      'refused',
      'garbage',
      'silent',
      'wrong_id',
      'wrong_question',
    ] as const) {
      server.set(`${treatment}.example.com`, { txt: ['x'], cname: 'y.example.com', a: ['192.0.2.1'] });
      server.treat(`${treatment}.example.com`, treatment);
      for (const ask of ['txt', 'cname', 'addresses'] as const) {
        const answer = await impatient()[ask](`${treatment}.example.com`);
        expect([treatment, ask, answer]).toEqual([treatment, ask, failed]);
      }
    }
  });

  it('finds addresses of one kind where the other kind cannot be asked for', async () => {
    server.set('four.example.com', { a: ['192.0.2.4'] });
    expect(await resolver().addresses('four.example.com')).toEqual(found('192.0.2.4'));
  });

  it('asks again over TCP when an answer did not fit', async () => {
    server.set('long.example.com', { txt: ['whole'] });
    server.treat('long.example.com', 'truncated');
    expect(await resolver().txt('long.example.com')).toEqual(found('whole'));
    expect(asked('long.example.com').map(({ over }) => over)).toEqual(['udp', 'tcp']);
  });

  it('keeps no more of a huge answer than a bounded part', async () => {
    server.set('huge.example.com', {});
    server.treat('huge.example.com', 'huge');
    const answer = await resolver().txt('huge.example.com');
    if (answer.outcome !== 'found') throw new Error(answer.outcome);
    expect(answer.values.length).toBeLessThanOrEqual(64);
    expect(Math.max(...answer.values.map((value) => value.length))).toBeLessThanOrEqual(512);
  });

  it('remembers nothing from one question to the next, whatever the lifetime of a record says', async () => {
    const kept = resolver();
    server.set('fresh.example.com', { txt: ['before'] });
    expect(await kept.txt('fresh.example.com')).toEqual(found('before'));
    server.set('fresh.example.com', { txt: ['after'] });
    expect(await kept.txt('fresh.example.com')).toEqual(found('after'));
  });

  it('asks nobody about what is an address or no name', async () => {
    const before = server.questions.length;
    expect(await resolver().addresses('192.0.2.9')).toEqual(found('192.0.2.9'));
    for (const name of ['', '.', 'a b.example', `${'a'.repeat(64)}.example`, `${'a.'.repeat(127)}a`])
      expect([name, await resolver().txt(name)]).toEqual([name, failed]);
    expect(server.questions.length).toBe(before);
  });

  it('waits for a slow answer, which holds up no other', async () => {
    const gate = Promise.withResolvers<void>();
    server.set('slow.example.com', { txt: ['late'] });
    server.treat('slow.example.com', gate.promise);
    const slow = resolver().txt('slow.example.com');
    expect(await resolver().txt('a.example.com')).toEqual(found('one'));
    gate.resolve();
    expect(await slow).toEqual(found('late'));
  });

  it('gives the questions of one check one limit of time together', async () => {
    server.treat('silent.example.com', 'silent');
    const patient = createResolver([server.address], { limitMs: 200, firstTryMs: 10_000 });
    const check = patient.forOneCheck?.() ?? patient;
    expect(await check.txt('silent.example.com')).toEqual(failed);
    // The first question has used up the limit, so the second is not even asked.
    const before = server.questions.length;
    expect(await check.txt('a.example.com')).toEqual(failed);
    expect(server.questions.length).toBe(before);
    expect(await resolver().txt('a.example.com')).toEqual(found('one'));
  });

  it('calls a server that is not there a failure', async () => {
    const gone = await openNameServer();
    await gone[Symbol.asyncDispose]();
    expect(await createResolver([gone.address], soon).txt('a.example.com')).toEqual(failed);
  });
});
