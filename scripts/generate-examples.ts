/**
 * Writes the example answers of the API to `src/api/openapi/examples.json`: what the whole service, over its store in memory and at a
 * fixed time, answers to the example calls. Only what is drawn at random is replaced, so that every run writes the same.
 */
import { createHash } from 'node:crypto';
import { bodiesOf } from '../src/api/openapi/calls.ts';
import { createTestApp } from '../test/support/app.ts';
import {
  isByAccount,
  type Question,
  sampleDomain,
  sampleSecretKey,
  type Told,
  tellStory,
} from '../test/v2/example-story.ts';
import { createDns } from '../test/web/domain-owner.ts';
import { png } from '../test/web/pictures.ts';
import { describedApi } from './generate-openapi.ts';

export const examplesFile = new URL('../src/api/openapi/examples.json', import.meta.url);

const siteHost = 'mayfly.example';

/** By operation, as text. */
export async function renderExamples(): Promise<string> {
  const dns = createDns();
  const { addresses, cname, txt } = dns.records;
  for (const name of [siteHost, sampleDomain]) addresses.set(name, ['203.0.113.7']);
  cname.set(sampleDomain, [siteHost]);
  const app = createTestApp({ baseUrl: `https://${siteHost}`, resolver: dns });
  const { authorization } = await app.account('ada@example.com', 'identity');
  const answers = await tellStory(describedApi().surfaces, {
    async ask(question) {
      const { path, init } = requestOf(question, authorization);
      const response = await app.fetch(path, init);
      const answer: Told = await response.json();
      if (response.status !== question.status) throw new Error(`${path} answered ${JSON.stringify(answer)}`);
      const { txt_validation_host: host, txt_validation_value: value } = answer.record ?? {};
      if (typeof host === 'string') txt.set(host, [value]);
      return answer;
    },
    async later() {
      await app.service.settled();
      app.clock.advance(60);
    },
  });
  return `${withoutChance(JSON.stringify(Object.fromEntries(answers), null, 1))}\n`;
}

function requestOf({ entry, key, secretKey }: Question, authorization: string) {
  const { operation } = entry;
  const [, body] = bodiesOf(operation);
  const text = JSON.stringify(body?.example)?.replaceAll(sampleSecretKey, secretKey);
  const headers: Record<string, string> = {};
  if (isByAccount(operation)) headers.authorization = authorization;
  if (body !== null)
    headers['content-type'] = body.type.startsWith('image/') ? body.type : 'application/json';
  return {
    path: entry.path.replace(/\{\w+\}/, key),
    init: {
      method: operation.method,
      headers,
      ...(body !== null && { body: body.type.startsWith('image/') ? png : text }),
    },
  };
}

/** Everything that was drawn, replaced by the same samples each time. */
function withoutChance(told: string): string {
  const samples = new Map<string, string>();
  const replace = (drawn: string, sample: string) => samples.set(drawn, sample);
  const keys = new Set(Array.from(told.matchAll(/"([0-9a-z]{31})"/g), ([, key = '']) => key));
  for (const [at, key] of [...keys].entries()) {
    const sample = at === 1 ? sampleSecretKey : sampleKey(at);
    replace(key, sample);
    replace(`"${key.slice(0, 8)}"`, `"${sample.slice(0, 8)}"`);
    replace(`"${key.slice(0, 6)}"`, `"${sample.slice(0, 6)}"`);
  }
  for (const [, challenge = ''] of told.matchAll(/"txt_validation_value": "([0-9a-f]{32})"/g)) {
    const sample = createHash('sha256').update('challenge').digest('hex').slice(0, 32);
    replace(challenge, sample);
    replace(`-${challenge.slice(0, 7)}.`, `-${sample.slice(0, 7)}.`);
  }
  for (const [, value = ''] of told.matchAll(/"(?:secret_value|value)": "((?!correct)[^"]{12,20})"/g))
    replace(`"${value}"`, value.length === 20 ? '"mq7wzt3nh9rk4xvbd2ej"' : '"Tq7!mz4K=hv9"');
  return Array.from(samples).reduce((text, [drawn, sample]) => text.replaceAll(drawn, sample), told);
}

/** Looks drawn, and is always the same. */
function sampleKey(number: number): string {
  const digits = createHash('sha256').update(`example ${number}`).digest('hex');
  return BigInt(`0x${digits}`).toString(36).slice(0, 31);
}

if (import.meta.main) await Bun.write(examplesFile, await renderExamples());
