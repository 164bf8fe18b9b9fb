/** A program that uses everything the client of v1 exports; `package.test.ts` checks it against the packed types. */
import {
  type CallOptions,
  type Credentials,
  createV1Client,
  type Fetch,
  type FieldError,
  MayflyError,
  type MayflyErrorCode,
  type NoticeKind,
  type ParsedLink,
  parseLink,
  type ReceiptState,
  type TransportOptions,
  type V1Client,
  type V1ConcealOptions,
  type V1Created,
  type V1CreateOptions,
  type V1Generated,
  type V1GenerateOptions,
  type V1PassphraseOption,
  type V1Receipt,
  type V1Revealed,
} from '../../sdk/v1.ts';

const credentials: Credentials = { username: 'jo@example.org', token: 'x' };
const fetch: Fetch = (url, init) => globalThis.fetch(url, init);
const options: TransportOptions = {
  server: 'https://x.example',
  credentials,
  fetch,
  timeoutMs: 1,
  retries: 2,
};
const client: V1Client = createV1Client(options);

const call: CallOptions = { signal: new AbortController().signal, timeoutMs: 1 };
const kinds: readonly NoticeKind[] = ['read'];
const common: V1CreateOptions = {
  ...call,
  ttlSeconds: 60,
  notify: kinds,
  recipient: 'jo@example.org',
  shareDomain: 'x.example',
};
const wanted: V1ConcealOptions = { ...common, value: 'x', passphrase: 'p' };
const drawn: V1GenerateOptions = { ...common, length: 12, charset: ['lower', 'digits'] };
const proof: V1PassphraseOption = { ...call, passphrase: 'p' };

export async function everything(): Promise<readonly (string | null)[]> {
  const created: V1Created = await client.conceal(wanted);
  const generated: V1Generated = await client.generate(drawn);
  const revealed: V1Revealed = await client.reveal(created.link, proof);
  const receipt: V1Receipt = await client.receipt(created.metadataKey, call);
  const viewed: V1Receipt = await client.view(created.metadataKey, call);
  const burned: V1Receipt = await client.burn(created.metadataKey, proof);
  const state: ReceiptState = burned.state;
  await client.checkCredentials(call);
  const { locale } = await client.serviceStatus(call);
  const parsed: ParsedLink | null = parseLink(created.link);
  const states = (await client.recent(call)).map((each) => each.state);
  const times = [receipt.createdAt, receipt.updatedAt, viewed.receivedAt].map((at) => at?.toJSON() ?? null);
  return [generated.value, revealed.value, state, locale, parsed?.key ?? null, ...states, ...times];
}

export function codeOf(error: unknown): MayflyErrorCode | null {
  if (!(error instanceof MayflyError)) return null;
  const fields: readonly FieldError[] = error.fieldErrors;
  return fields.length > 0 ? 'invalid_field' : error.code;
}
