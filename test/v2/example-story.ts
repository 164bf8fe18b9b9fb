/**
 * The calls behind the examples of the API page, in an order in which each of them succeeds: what an operation is asked is the example
 * that the page shows, and so is what it answers.
 */
import type { Called } from '../../src/api/openapi/calls.ts';
import { type Entry, sectionsOf } from '../../src/api/reference/page.tsx';
import type { ApiSurface } from '../../src/http/api.ts';

/** As the examples name them. */
export const sampleSecretKey = '4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g';
export const sampleDomain = 'secrets.example.com';

export type Told = ReturnType<typeof JSON.parse>;

/** One call of an operation by its example. */
export interface Question {
  readonly entry: Entry;
  /** What is put in the place of the path's parameter; `''` where there is none. */
  readonly key: string;
  /** What is put in the place of `sampleSecretKey`. */
  readonly secretKey: string;
  readonly status: number;
}

interface Teller {
  /** Resolves with the answer's JSON; rejects if the status is another. */
  ask(question: Question): Promise<Told>;
  /** Lets mail be sent, and a minute pass. */
  later(): Promise<void>;
}

/** Asks every operation of both versions once, but for the document itself; resolves with the answers by name, in order. */
export async function tellStory(
  surfaces: readonly ApiSurface[],
  { ask, later }: Teller,
): Promise<Map<string, Told>> {
  const entries = new Map(
    sectionsOf(surfaces)
      .flatMap((section) => section.entries)
      .map((entry) => [entry.operation.name, entry]),
  );
  const answers = new Map<string, Told>();
  const call: Call = async (name, key = '', { secretKey = '', refusal = null } = {}) => {
    const entry = entries.get(name);
    if (entry === undefined) throw new Error(`there is no operation ${name}`);
    const answer = await ask({ entry, key, secretKey, status: refusal?.status ?? 200 });
    answers.set(refusal?.code ?? name, answer);
    return answer;
  };
  await tellVersion2(call, later);
  await tellDomains(call);
  await tellVersion1(call, later);
  const untold = [...entries.keys()].filter((name) => !answers.has(name) && name !== 'v2.openapi');
  if (untold.length > 0) throw new Error(`the story leaves out ${untold.join(', ')}`);
  return answers;
}

type Call = (
  name: string,
  key?: string,
  how?: {
    readonly secretKey?: string;
    readonly refusal?: { readonly status: number; readonly code: string };
  },
) => Promise<Told>;

async function tellVersion2(call: Call, later: Teller['later']): Promise<void> {
  const { metadata, secret } = (await call('v2.conceal')).record;
  const unwanted = (await call('v2.generate')).record.secret;
  const drawn = (await call('v2.generate')).record;
  const [verified] = (await call('v2.batch')).results;
  await call('v2.mailCode', verified.record.secret.key);
  await later();
  await call('v2.inspect', secret.key);
  await call('v2.secretStatus', secret.key);
  await call('v2.secretStatuses', '', { secretKey: secret.key });
  await call('v2.note', secret.key);
  await call('v2.receipt', metadata.key);
  await call('v2.change', metadata.key);
  await call('v2.deliver', metadata.key);
  await later();
  await call('v2.burn', drawn.metadata.key);
  await call('v2.recent');
  await call('v2.reveal', secret.key);
  await call('v2.revealDone', secret.key);
  await call('v2.burnUnread', unwanted.key);
  await call('v2.burn', metadata.key, { refusal: { status: 409, code: 'already_gone' } });
  await tellRequest(call);
  for (const name of ['status', 'version', 'locales', 'authcheck']) await call(`v2.${name}`);
  const { key } = (await call('v2.guest.conceal')).record.secret;
  const guests = (await call('v2.guest.generate')).record.secret;
  await call('v2.guest.inspect', key);
  await call('v2.guest.reveal', key);
  await call('v2.guest.revealDone', key);
  await call('v2.guest.burnUnread', guests.key);
}

async function tellRequest(call: Call): Promise<void> {
  const { key } = (await call('v2.request')).record;
  await call('v2.requestLook', key);
  await call('v2.requestReport', key);
  const { secret_key: secretKey } = (await call('v2.requestAnswer', key)).record;
  await call('v2.requestAnswers', key);
  await call('v2.requestChange', key);
  await call('v2.requestDiscard', key, { secretKey });
}

async function tellDomains(call: Call): Promise<void> {
  await call('v2.domainAdd');
  await call('v2.domain', sampleDomain);
  await call('v2.domainVerify', sampleDomain);
  await call('v2.domainBrandChange', sampleDomain);
  await call('v2.domainLogo', sampleDomain);
  await call('v2.domainBrand', sampleDomain);
  await call('v2.domainList');
  await call('v2.domainLogoRemove', sampleDomain);
  await call('v2.domainRemove', sampleDomain);
}

async function tellVersion1(call: Call, later: Teller['later']): Promise<void> {
  const shared = await call('v1.conceal');
  const drawn = await call('v1.generate');
  await later();
  await call('v1.findReceipt', shared.metadata_key);
  await call('v1.viewReceipt', shared.metadata_key);
  await call('v1.burn', drawn.metadata_key);
  await call('v1.recent');
  await call('v1.reveal', shared.secret_key);
  await call('v1.status');
  await call('v1.authcheck');
}

/** Whether the example is of a caller with an account. */
export function isByAccount({ access }: Called): boolean {
  return access !== 'open';
}
