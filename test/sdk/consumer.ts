/** A program that uses everything the client exports; `package.test.ts` checks it against the packed types. */
import {
  type Account,
  type Adjustment,
  type Answer,
  type AnswerOptions,
  type AnswerState,
  type Answers,
  type Asked,
  type AskOptions,
  type BatchItem,
  type BatchOptions,
  type BatchResult,
  type Burner,
  type CallOptions,
  type ClientOptions,
  type ConcealOptions,
  type Created,
  type CreateOptions,
  type Credentials,
  createClient,
  type DeliverOptions,
  type Delivery,
  type DeliveryState,
  type Fetch,
  type FieldError,
  type Generated,
  type GenerateOptions,
  type Locales,
  type Lock,
  type MayflyClient,
  MayflyError,
  type MayflyErrorCode,
  type NoticeKind,
  newLook,
  type OpenedRequest,
  type ParsedLink,
  type PassphraseOption,
  parseLink,
  type Receipt,
  type ReceiptState,
  type RecentOptions,
  type Remarks,
  type RequestChange,
  type RequestState,
  type Revealed,
  type RevealOptions,
  type SecretRequest,
  type SentAnswer,
  type SentCode,
  type ServiceStatus,
  type SharedFile,
  type WaitingSecret,
} from '../../sdk/mayfly.ts';

const credentials: Credentials = { username: 'jo@example.org', token: 'x' };
const fetch: Fetch = (url, init) => globalThis.fetch(url, init);
const options: ClientOptions = { server: 'https://x.example', credentials, fetch, timeoutMs: 1, retries: 2 };
export const client: MayflyClient = createClient(options);

const call: CallOptions = { signal: new AbortController().signal, timeoutMs: 1 };
const kinds: readonly NoticeKind[] = ['read', 'burned', 'expiring'];
const common: CreateOptions = {
  ...call,
  ttlSeconds: 60,
  memo: 'm',
  notify: kinds,
  recipient: 'jo@example.org',
  locale: 'en',
};
const wanted: ConcealOptions = {
  ...common,
  value: 'x',
  passphrase: 'p',
  shareDomain: 'x.example',
  plain: true,
};
const file: SharedFile = { name: 'key.pem', type: 'application/x-pem-file', bytes: new Uint8Array(1) };
const sealed: ConcealOptions = { ...call, file, passphrase: 'p' };
const opening: RevealOptions = { ...call, passphrase: 'p', look: newLook(), strictlyOnce: false };
const drawn: GenerateOptions = { ...common, length: 12, charset: ['lower', 'digits'] };
const proof: PassphraseOption = { ...call, passphrase: 'p' };
const again: DeliverOptions = { ...call, recipient: 'jo@example.org', locale: 'en' };
const paged: RecentOptions = { ...call, pageSize: 10 };

const asking: AskOptions = {
  ...call,
  prompt: 'x',
  answers: 2,
  ttlSeconds: 60,
  answerTtlSeconds: 60,
  notify: true,
};
const answering: AnswerOptions = { ...call, file };
const changes: readonly RequestChange[] = [{ close: true }, { ttlSeconds: 60 }, { answers: 3 }];

export async function requests(): Promise<readonly unknown[]> {
  const asked: Asked = await client.ask(asking);
  const opened: OpenedRequest = await client.inspectRequest(asked.askLink, call);
  const sent: SentAnswer = await client.answer(asked.askLink, answering);
  await client.reportRequest(asked.askLink, call);
  const found: Answers = await client.answers(asked.answersLink, call);
  const [first]: readonly Answer[] = found.answers;
  const states: readonly (AnswerState | RequestState | undefined)[] = [first?.state, opened.state];
  for await (const { answers } of client.watchAnswers(asked.answersLink, call)) if (answers.length > 0) break;
  for (const change of changes) {
    const request: SecretRequest = await client.changeRequest(asked.answersLink, change, call);
    if (request.left === 0) break;
  }
  return [states, sent.link, await client.discardAnswer(asked.answersLink, sent.secretKey, call)];
}

export async function everything(): Promise<readonly string[]> {
  const created: Created = await client.conceal(wanted);
  const generated: Generated = await client.generate(drawn);
  const waiting: WaitingSecret | null = await client.status(created.link, call);
  const words: string | null = await client.note(created.link, call);
  const inspected: WaitingSecret = await client.inspect(created.link, proof);
  const revealed: Revealed = await client.reveal(created.link, opening);
  const whole: Created = await client.conceal(sealed);
  const opened: SharedFile | null = (await client.reveal(whole.link, opening)).file;
  const fragment: string | null = parseLink(whole.link)?.fragment ?? null;
  const items: readonly BatchItem[] = [{ value: 'x' }, { generate: { length: 12 } }];
  const together: BatchOptions = { ...call, idempotencyKey: 'k' };
  const [first]: readonly BatchResult[] = await client.batch(items, together);
  const made: string = first === undefined || first instanceof MayflyError ? '' : first.link;
  const receipt: Receipt = await client.receipt(created.metadataKey, call);
  const code: SentCode = await client.sendCode(generated.link, newLook(), { ...call, locale: 'de' });
  await client.burnUnread(generated.link, { ...proof, look: newLook(), code: '493207' });
  const burned: Receipt = await client.burn(created.metadataKey, call);
  const burner: Burner | null = burned.burnedBy;
  const renamed: Receipt = await client.setMemo(created.metadataKey, '', call);
  const changed: Receipt & Remarks = await client.setTtl(created.metadataKey, 60, call);
  const unlocked: Receipt = await client.allowMore(created.metadataKey, call);
  const lock: Lock | null = unlocked.locked;
  const mailed: Receipt & Remarks = await client.deliver(created.metadataKey, again);
  for await (const { state } of client.recent(paged)) stateWords(state);
  const several: readonly (WaitingSecret | null)[] = await client.statuses([created.link], call);
  const account: Account = await client.account(call);
  const service: ServiceStatus = await client.serviceStatus(call);
  const locales: Locales = await client.locales(call);
  const version: string = await client.version(call);
  const ttl: Adjustment<number | string, number> | undefined = changed.adjusted.ttlSeconds;
  const delivery: Delivery | null = mailed.delivery;
  const state: DeliveryState = delivery?.state ?? 'queued';
  const parsed: ParsedLink | null = parseLink(created.link);
  const times: readonly Date[] = [receipt.createdAt, inspected.createdAt, delivery?.at ?? code.until];
  return [
    ...[
      generated.value,
      revealed.value ?? '',
      words ?? '',
      opened?.name ?? '',
      fragment ?? '',
      made,
      waiting?.secretKey ?? '',
      burned.state,
      burner ?? '',
      renamed.memo,
      lock?.until?.toJSON() ?? lock?.by ?? '',
      state,
    ],
    ...[several[0]?.secretKey ?? '', account.plan, service.region ?? '', locales.default, version],
    ...[parsed?.kind ?? 'unknown', String(ttl?.granted.toFixed() ?? ''), ...times.map((at) => at.toJSON())],
  ];
}

function stateWords(state: ReceiptState): 'open' | 'closed' {
  return state === 'new' || state === 'viewed' ? 'open' : 'closed';
}

export function codeOf(error: unknown): MayflyErrorCode | null {
  if (!(error instanceof MayflyError)) return null;
  const waitSeconds: number | null = error.retryAfterSeconds;
  const [wrong]: readonly FieldError[] = error.fieldErrors;
  const told: readonly (string | number | null)[] = [
    wrong?.message ?? null,
    error.status,
    error.requestId,
    error.field,
    waitSeconds,
  ];
  return told.length > 0 && error.code === 'aborted' ? 'aborted' : error.code;
}
