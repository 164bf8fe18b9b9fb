/** A program that uses everything the client of share domains exports; `package.test.ts` checks it against the packed types. */
import {
  type Brand,
  type BrandChanges,
  type CallOptions,
  type Credentials,
  createDomainClient,
  type Domain,
  type DomainClient,
  type DomainList,
  type DomainState,
  type DomainTarget,
  type Fetch,
  type FieldError,
  MayflyError,
  type MayflyErrorCode,
  type TargetedDomain,
  type TransportOptions,
} from '../../sdk/domains.ts';

const credentials: Credentials = { username: 'jo@example.org', token: 'x' };
const fetch: Fetch = (url, init) => globalThis.fetch(url, init);
const options: TransportOptions = { server: 'https://x.example', credentials, fetch };
const client: DomainClient = createDomainClient(options);
const call: CallOptions = { timeoutMs: 1 };

export async function everything(): Promise<readonly (string | null)[]> {
  const added: TargetedDomain = await client.add('secrets.example.com', call);
  const target: DomainTarget = added.target;
  const found: TargetedDomain = await client.find(added.name, call);
  const { state }: { readonly state: DomainState } = await client.verify(added.name, call);
  const changes: BrandChanges = { name: 'Example', colour: null, isPublic: false };
  const brand: Brand = await client.setBrand(added.name, changes, call);
  const logo: Brand = await client.setLogo(added.name, new Blob(['x'], { type: 'image/png' }), call);
  const list: DomainList = await client.list(call);
  const first: Domain | undefined = list.domains[0];
  await client.remove(added.name, call);
  return [target.host, found.txtRecord?.value ?? null, state, brand.name, logo.logo, first?.name ?? null];
}

export function fieldsOf(error: unknown): readonly FieldError[] {
  return error instanceof MayflyError ? error.fieldErrors : [];
}

export function isTaken(error: unknown): boolean {
  const code: MayflyErrorCode | null = error instanceof MayflyError ? error.code : null;
  return code === 'domain_taken';
}
