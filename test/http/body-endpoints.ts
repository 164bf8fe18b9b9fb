/**
 * Every endpoint that takes a body, with the forms that it reads: made from the operations of both versions and from the addresses of
 * the pages, so that one without a row here is an error, and so is a row without one.
 */
import type { DialectName } from '../../src/api/version.ts';
import { builtInPlans, type PlanName } from '../../src/core/plans.ts';
import { maxCiphertextBytes } from '../../src/core/secrets/end-to-end.ts';
import { mayChange } from '../../src/http/operation.ts';
import { routes } from '../../src/web/kit/routes.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { clientSecret } from '../support/sealed-wire.ts';
import { surfacesOf } from '../v2/documented-app.ts';
import { signUpAs } from '../web/signed-in.ts';
import { type BodyForm, type UglyBody, uglyBodies } from './ugly-bodies.ts';

/** A field that the endpoint knows, in each form that it reads. */
type Row = Partial<Readonly<Record<BodyForm, string>>>;

/** v1 reads every form, also where an operation has no use for it. */
const inV1 = (field = 'a'): Row => ({ json: field, form: field, multipart: field, query: field });
const inV2 = (field: string): Row => ({ json: field });
const inForm = (field: string): Row => ({ form: field });
const nothingRead: Row = {};

const operationRows: Readonly<Record<string, Row>> = {
  'v1.conceal': inV1('secret'),
  'v1.generate': inV1('charset'),
  'v1.reveal': inV1('passphrase'),
  'v1.recent': inV1(),
  'v1.viewReceipt': inV1(),
  'v1.burn': inV1('passphrase'),
  'v2.conceal': inV2('secret.secret'),
  'v2.generate': inV2('secret.charset'),
  'v2.batch': inV2('secrets'),
  'v2.secretStatuses': inV2('identifiers'),
  'v2.mailCode': inV2('look'),
  'v2.reveal': inV2('passphrase'),
  'v2.revealDone': inV2('look'),
  'v2.burnUnread': inV2('passphrase'),
  'v2.note': inV2('link_proof'),
  'v2.change': inV2('memo'),
  'v2.burn': inV2('continue'),
  'v2.deliver': inV2('recipient'),
  'v2.guest.conceal': inV2('secret.sealed.ciphertext'),
  'v2.guest.generate': inV2('charset'),
  'v2.guest.reveal': inV2('proof'),
  'v2.guest.revealDone': inV2('look'),
  'v2.guest.burnUnread': inV2('link_proof'),
  'v2.request': inV2('terms'),
  'v2.requestLook': inV2('ask'),
  'v2.requestReport': inV2('ask'),
  'v2.requestAnswer': inV2('sealed.ciphertext'),
  'v2.requestAnswers': inV2('owner'),
  'v2.requestChange': inV2('owner'),
  'v2.requestDiscard': inV2('secret_key'),
  'v2.domainAdd': inV2('domain'),
  'v2.domainBrandChange': inV2('name'),
  'v2.domainLogo': { svg: '' },
  'v2.domainVerify': nothingRead,
  'v2.domainRemove': nothingRead,
  'v2.domainLogoRemove': nothingRead,
};

const pageRows: Readonly<Record<string, Row>> = {
  share: inForm('secret'),
  suggest: inForm('secret'),
  receipt: inForm('a'),
  burn: inForm('a'),
  sendAgain: inForm('recipient'),
  memo: inForm('memo'),
  lifetime: inForm('ttl-amount'),
  allowMore: inForm('a'),
  again: inForm('a'),
  secret: inForm('passphrase'),
  secretOpen: inForm('proof'),
  secretNote: inForm('link-proof'),
  secretCode: inForm('link-proof'),
  secretDone: inForm('look'),
  secretBurn: inForm('passphrase'),
  ask: inForm('terms'),
  closeRequest: inForm('a'),
  signUp: inForm('email'),
  completeSignUp: inForm('password'),
  logIn: inForm('email'),
  logOut: inForm('a'),
  forgotten: inForm('email'),
  reset: inForm('password'),
  notices: inForm('notify-read'),
  recent: inForm('act'),
  password: inForm('next'),
  deleteAccount: inForm('confirm'),
  tokens: inForm('name'),
  revokeToken: inForm('a'),
  endSession: inForm('a'),
  domains: inForm('domain'),
  verifyDomain: inForm('a'),
  removeDomain: inForm('a'),
  domainBrand: inForm('name'),
  domainLogo: { multipart: 'logo', form: 'a' },
  language: inForm('language'),
};

/** The largest that is valid: a secret that a client sealed. Of the others a plain text is the plainest. */
function sealedFor(plan: PlanName, around: (sealed: object) => object): UglyBody {
  const paddedBytes = maxCiphertextBytes(builtInPlans[plan]) - 16;
  const bytes = Buffer.from(JSON.stringify(around({ sealed: clientSecret({ paddedBytes }).wire })));
  return { label: 'a sealed secret', contentType: 'application/json', bytes };
}

const plainest: Readonly<Record<string, () => UglyBody>> = {
  'v2.conceal (json)': () => sealedFor('identity', (secret) => ({ secret })),
  'v2.guest.conceal (json)': () => sealedFor('anonymous', (secret) => ({ secret })),
  'v2.batch (json)': () => sealedFor('identity', (secret) => ({ secrets: [secret] })),
};

export interface BodyEndpoint {
  readonly label: string;
  /** The plainest first; made anew, because all of them together are large. */
  bodies(): readonly UglyBody[];
  readonly form: BodyForm;
  /** What a form needs before its other fields, as `name=value&`. */
  readonly before: string;
  send(
    body: Pick<UglyBody, 'contentType' | 'bytes'>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

interface Address {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

export function operationsWithBody(app: TestApp): readonly Address[] {
  return surfacesOf(app).flatMap(({ base, operations }) =>
    operations.flatMap(({ name, method, path, aliases = [] }) => {
      const way = [{ method, path }, ...aliases].find((each) => mayChange(each.method));
      return way === undefined ? [] : [{ name, method: way.method, path: base + way.path }];
    }),
  );
}

export async function pagesWithBody(app: TestApp): Promise<readonly Address[]> {
  const pages: Address[] = [];
  for (const [name, path] of Object.entries(routes)) {
    const { headers } = await app.fetch(path.replace(':key', 'a'), { method: 'OPTIONS' });
    if (headers.get('allow')?.includes('POST') === true) pages.push({ name, method: 'POST', path });
  }
  return pages;
}

/** The names of the rows, to be held against what there is. */
export const rowsOfBodies = { operations: Object.keys(operationRows), pages: Object.keys(pageRows) };

const domain = 'secrets.example.com';
/** What the head of a request has room for. */
const queryCapBytes = 12_000;
/** Of a creation with an account, of a form, of a form with a logo, of a logo, of everything else. */
const capsBytes = [1_360_448, 1_048_576, 278_528, 262_144, 70_240];

/** Both APIs and the pages, a person with an account and a domain, and a secret that waits. */
async function openWorld(dialect: DialectName) {
  const app = createTestApp({ dialect, v2Dialect: dialect });
  const { authorization } = await app.account('alice@example.com', 'identity');
  const { signedIn, cookie } = await signUpAs(app, 'bob@example.com');
  const { id } = signedIn.caller.account;
  await app.store.setPlan(id, 'identity');
  await giveDomain(app.store, id, domain);
  const made = await app.fetch('/api/v1/share', {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ secret: 'a value', passphrase: 'a passphrase' }),
  });
  const { secret_key, metadata_key } = (await made.json()) as Record<string, string>;
  const keyIn = (path: string): string => {
    if (path.includes('domains')) return domain;
    return (/secret/.test(path) ? secret_key : metadata_key) ?? '';
  };
  const pathOf = (path: string) => path.replace(/:[a-z_]+/, keyIn(path));
  return { app, pathOf, api: { authorization }, page: { cookie }, formToken: signedIn.formToken };
}

/** Of what would end the session of the next body. */
const endsSession = new Set(['logOut', 'deleteAccount']);

/** Every endpoint in every form that it reads. The upstream dialect adds forms to v2; only those are given of it. */
export async function bodyEndpoints(dialect: DialectName): Promise<readonly BodyEndpoint[]> {
  const { app, pathOf, api, page, formToken } = await openWorld(dialect);
  const endpoints: Promise<BodyEndpoint>[] = [];
  const add = (address: Address, row: Row | undefined, headers: Record<string, string>, first = {}) => {
    for (const [form, field] of Object.entries(row ?? {}))
      endpoints.push(
        endpointOf(app, { ...address, path: pathOf(address.path) }, form as BodyForm, field, headers, first),
      );
  };
  for (const address of operationsWithBody(app)) {
    const row = operationRows[address.name];
    if (dialect === 'documented') add(address, row, api);
    else if (address.name.startsWith('v2.') && row?.json !== undefined)
      add(address, { form: row.json.replace(/\.(.*)/, '[$1]') }, api);
  }
  if (dialect === 'documented')
    for (const address of await pagesWithBody(app))
      add(
        address,
        pageRows[address.name],
        page,
        endsSession.has(address.name) ? {} : { 'form-token': formToken },
      );
  return Promise.all(endpoints);
}

async function endpointOf(
  app: TestApp,
  { name, method, path }: Address,
  form: BodyForm,
  field: string,
  headers: Record<string, string>,
  first: Readonly<Record<string, string>>,
): Promise<BodyEndpoint> {
  const isQuery = form === 'query';
  const send: BodyEndpoint['send'] = ({ contentType, bytes }, more = {}) =>
    isQuery
      ? app.fetch(`${path}?${bytes}`, { method, headers })
      : app.fetch(path, {
          method,
          body: bytes,
          headers: { 'content-type': contentType, ...headers, ...more },
        });
  let capBytes = queryCapBytes;
  if (!isQuery)
    for (const cap of capsBytes) {
      capBytes = cap;
      const contentType = form === 'svg' ? 'image/svg+xml' : 'text/plain';
      if ((await send({ contentType, bytes: Buffer.alloc(cap) })).status !== 413) break;
    }
  const label = `${name} (${form})`;
  const bodies = () => {
    const valid = plainest[label]?.();
    const ugly = uglyBodies(form, { capBytes, field, first });
    return valid === undefined ? ugly : [valid, ...ugly];
  };
  const before = new URLSearchParams({ ...first, '': '' }).toString().slice(0, -1);
  return { label, bodies, send, form, before };
}
