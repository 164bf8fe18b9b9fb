/** A share domain's whole life on a started server, with a name server of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mayfly } from '../cli/command-run.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
import { type StartedServer, startServer } from '../support/started-server.ts';
import { type DomainClient, openDomainClient } from './client.ts';
import { type NameServer, openNameServer } from './name-server.ts';

const target = 'in.mayfly.example.com';

let names: NameServer;
let server: StartedServer;
let client: DomainClient;
let env: Record<string, string> = {};

beforeAll(async () => {
  names = await openNameServer({ [target]: { a: ['192.0.2.10'], aaaa: ['2001:db8::10'] } });
  env = {
    MAYFLY_BASE_URL: 'https://mayfly.example.com',
    MAYFLY_DOMAIN_TARGET: target,
    MAYFLY_DNS_SERVERS: names.address,
  };
  server = await startServer({ env });
  env = { ...env, MAYFLY_DATA_DIR: server.dataDir };
  client = await openDomainClient(server, 'alice@example.com');
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await names[Symbol.asyncDispose]();
});

describe('a share domain of a running server', () => {
  it('is registered, proved, led here, shared on, lost with its alias and won back', async () => {
    const name = 'secrets.example.org';
    const { txt_validation_host: host, txt_validation_value: value, state } = await client.add(name);
    expect(state).toBe('unverified');
    const share = () => client.call('/secret/conceal', { secret: { secret: 'value', share_domain: name } });
    expect([await client.verify(name), (await share()).status]).toEqual([['unverified', 'txt_missing'], 422]);
    names.set(host ?? '', { txt: ['v=spf1 -all', value ?? ''] });
    expect([await client.verify(name), (await share()).status]).toEqual([['pending', 'not_pointing'], 422]);
    names.set(name, { cname: 'alias.example.org' });
    names.set('alias.example.org', { cname: target });
    expect(await client.verify(name)).toEqual(['verified', null]);
    const { metadata, secret } = (await share()).body.record;
    expect(metadata.share_url).toBe(`https://${name}/secret/${secret.key}`);
    names.set(name, { a: ['198.51.100.1'] });
    expect([await client.verify(name), (await share()).status]).toEqual([['lost', 'not_pointing'], 422]);
    names.treat(host ?? '', 'servfail');
    expect(await client.verify(name)).toEqual(['lost', 'dns_failed']);
    names.treat(host ?? '', null);
    names.set(name, { a: ['192.0.2.10'], aaaa: ['2001:db8::10'] });
    expect([await client.verify(name), (await share()).status]).toEqual([['verified', null], 200]);
    // Secrets shared on it before can still be read, once.
    const reveal = requestBytes({
      method: 'POST',
      path: `/api/v2/secret/${secret.key}/reveal`,
      headers: { host: name },
    });
    const answer = await sendOnce(server.port, reveal);
    expect([answer.status, JSON.parse(answer.body).record.secret_value]).toEqual([200, 'value']);
    expect((await sendOnce(server.port, reveal)).status).toBe(404);
  }, 30_000);

  it('is never proved by a name server that lies or says nothing', async () => {
    const proved = async (name: string) => {
      const { txt_validation_host: host = '', txt_validation_value: value = '' } = await client.add(name);
      names.set(host ?? '', { txt: [value ?? ''] });
      names.set(name, { cname: target });
      return { host: host ?? '', value: value ?? '' };
    };
    const treatments = ['wrong_id', 'wrong_question', 'garbage', 'refused', 'silent'] as const;
    const verified = treatments.map(async (treatment) => {
      const name = `${treatment.replace('_', '-')}.example.org`;
      names.treat((await proved(name)).host, treatment);
      return `${treatment} ${await client.verify(name)}`;
    });
    const unproved = treatments.map((treatment) => `${treatment} unverified,dns_failed`);
    expect(await Promise.all(verified)).toEqual(unproved);
    const name = 'lied.example.org';
    const { host, value } = await proved(name);
    names.treat(host, 'huge');
    expect(await client.verify(name)).toEqual(['unverified', 'txt_differs']);
    names.treat(host, null);
    names.set(host, { txt: [`${value}0`, 'another'] });
    expect(await client.verify(name)).toEqual(['unverified', 'txt_differs']);
    names.set(host, { txt: [value] });
    names.treat(host, 'truncated');
    names.set(name, { cname: 'a.example.org' });
    names.set('a.example.org', { cname: 'b.example.org' });
    names.set('b.example.org', { cname: 'a.example.org' });
    expect(await client.verify(name)).toEqual(['pending', 'not_pointing']);
  }, 60_000);

  it('can be checked, listed and removed by the operator, whose own word needs no DNS', async () => {
    await client.add('ours.example.org');
    const verify = await mayfly(['domain', 'verify', 'alice@example.com', 'ours.example.org', '--json'], env);
    expect([verify.code, JSON.parse(verify.out)]).toMatchObject([
      ...[1, { domain: 'ours.example.org', state: 'unverified', by_operator: false, finding: 'txt_missing' }],
    ]);
    const again = await mayfly(['domain', 'add', 'alice@example.com', 'ours.example.org', '--json'], env);
    expect([again.code, again.out]).toEqual([1, '{"error":"exists"}\n']);
    expect((await mayfly(['domain', 'remove', 'alice@example.com', 'ours.example.org'], env)).code).toBe(0);
    expect((await mayfly(['domain', 'add', 'alice@example.com', 'Ours.Example.org.'], env)).code).toBe(0);
    const before = names.questions.length;
    const word = await mayfly(['domain', 'verify', 'alice@example.com', 'ours.example.org'], env);
    expect([word.code, word.err, names.questions.length]).toEqual([
      0,
      'ours.example.org is verified.\n',
      before,
    ]);
    const { out } = await mayfly(['domain', 'list', 'alice@example.com'], env);
    expect(out).toContain('ours.example.org\tverified\tadded by an operator\n');
    expect(out).toMatch(/^secrets\.example\.org\tverified\tchecked 2\d{3}-/m);
    const share = { secret: { secret: 'x', share_domain: 'ours.example.org' } };
    expect((await client.call('/secret/conceal', share)).status).toBe(200);
  }, 60_000);
});
