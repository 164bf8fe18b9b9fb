/**
 * What may be done with a secret and its record, by every door: one row for each operation of the APIs, each action of a page and
 * each command. The test of ownership walks them all, and fails on an operation that has no row.
 */

/** The record, as its creator would see it. */
export interface Standing {
  readonly state: string;
  readonly viewed: boolean;
  readonly memo: string;
  readonly ttl: number | null;
  readonly mails: number;
  /** How often more guesses at its passphrase were allowed. */
  readonly allowances: number;
}

export interface Keys {
  readonly secret: string;
  readonly metadata: string;
}

/** `done` is checked where the caller may: what has then changed, and what the answer holds. */
interface Act {
  /** What is sent: JSON to version 2, a form elsewhere. */
  readonly fields?: (keys: Keys) => Readonly<Record<string, unknown>>;
  readonly changes?: Partial<Standing>;
  readonly shows?: 'link' | 'memo' | 'state' | 'value';
  /** Of an answer that is neither 200 nor 303. */
  readonly status?: number;
}

export type Row =
  /**
   * By the metadata key. `account`: in every dialect, because mail goes out in its name. `onPage`: a command that asks the page where
   * there is no account. `selected`: on the list, which needs a session; what was not done is said with 409.
   */
  | (Act & {
      readonly kind: 'manage';
      readonly account?: true;
      readonly onPage?: true;
      readonly selected?: true;
    })
  /** What an account has shared. */
  | { readonly kind: 'list' }
  | (Act & { readonly kind: 'create' })
  /** By the secret key, which is enough for anyone. */
  | (Act & { readonly kind: 'link' })
  /** Touches no secret and no record. */
  | { readonly kind: 'apart' };

const apart: Row = { kind: 'apart' };
const list: Row = { kind: 'list' };
const link = (act: Act): Row => ({ kind: 'link', ...act });
const create = (fields: Readonly<Record<string, unknown>>): Row => ({ kind: 'create', fields: () => fields });
const manage = (act: Omit<Extract<Row, { kind: 'manage' }>, 'kind'>): Row => ({ kind: 'manage', ...act });

const toOther = 'other@example.net';
const reading = link({ changes: { state: 'received' }, shows: 'value' });
const burning = { state: 'burned' };

export const apiRows: Readonly<Record<string, Row>> = {
  'v1.status': apart,
  'v1.authcheck': apart,
  'v1.conceal': create({ secret: 'x' }),
  'v1.generate': create({}),
  'v1.reveal': reading,
  'v1.recent': list,
  'v1.viewReceipt': manage({ changes: { state: 'viewed', viewed: true }, shows: 'link' }),
  'v1.findReceipt': manage({ shows: 'link' }),
  'v1.burn': manage({ changes: burning }),
  'v2.conceal': create({ secret: { secret: 'x' } }),
  'v2.generate': create({}),
  'v2.batch': create({ secrets: [{ secret: 'x' }] }),
  'v2.inspect': link({}),
  'v2.secretStatus': link({ shows: 'state' }),
  'v2.secretStatuses': link({ fields: ({ secret }) => ({ identifiers: secret }), shows: 'state' }),
  'v2.reveal': link({ fields: () => ({ continue: true }), changes: { state: 'received' }, shows: 'value' }),
  'v2.revealDone': link({ fields: () => ({ look: 'A'.repeat(22) }) }),
  // Of a secret that asks for none.
  'v2.mailCode': link({ fields: () => ({ look: 'A'.repeat(22) }), status: 422 }),
  'v2.burnUnread': link({ changes: burning }),
  'v2.note': link({}),
  'v2.recent': list,
  'v2.receipt': manage({ shows: 'link' }),
  'v2.change': manage({
    fields: () => ({ memo: 'changed', ttl: 1_200, attempts: 'more', codes: 'more' }),
    changes: { memo: 'changed', ttl: 1_200, allowances: 1 },
    shows: 'link',
  }),
  'v2.burn': manage({ fields: () => ({ continue: true }), changes: burning }),
  'v2.deliver': manage({
    account: true,
    fields: () => ({ recipient: toOther }),
    changes: { mails: 1 },
    shows: 'link',
  }),
  'v2.status': apart,
  'v2.version': apart,
  'v2.locales': apart,
  'v2.authcheck': apart,
  'v2.guest.conceal': create({ secret: { secret: 'x' } }),
  'v2.guest.generate': create({}),
  'v2.guest.inspect': link({}),
  'v2.guest.reveal': link({
    fields: () => ({ continue: true }),
    changes: { state: 'received' },
    shows: 'value',
  }),
  'v2.guest.revealDone': link({ fields: () => ({ look: 'A'.repeat(22) }) }),
  'v2.guest.burnUnread': link({ changes: burning }),
  // On a request and its answers: test/v2/requests.test.ts.
  'v2.request': apart,
  'v2.requestLook': apart,
  'v2.requestReport': apart,
  'v2.requestAnswer': apart,
  'v2.requestAnswers': apart,
  'v2.requestChange': apart,
  'v2.requestDiscard': apart,
  'v2.domainList': apart,
  'v2.domainAdd': apart,
  'v2.domain': apart,
  'v2.domainVerify': apart,
  'v2.domainRemove': apart,
  'v2.domainBrand': apart,
  'v2.domainBrandChange': apart,
  'v2.domainLogo': apart,
  'v2.domainLogoRemove': apart,
};

/** What a page's redirect to the receipt, or to its newer address, says of the key in it: nothing. */
const redirect = apart;

/** By method and name of the address. */
export const pageRows: Readonly<Record<string, Row>> = {
  'POST share': { kind: 'create', fields: () => ({ secret: 'x', ttl: '604800' }), status: 303 },
  'GET receipt': manage({ shows: 'memo' }),
  'GET several': manage({ shows: 'memo' }),
  'POST receipt': manage({ changes: { state: 'viewed', viewed: true }, shows: 'link' }),
  'GET burn': manage({}),
  'POST burn': manage({ changes: burning, status: 303 }),
  'POST sendAgain': manage({
    account: true,
    fields: () => ({ recipient: toOther }),
    changes: { mails: 1 },
    status: 303,
  }),
  'POST memo': manage({ fields: () => ({ memo: 'changed' }), changes: { memo: 'changed' }, status: 303 }),
  'POST lifetime': manage({
    fields: () => ({ ttl: 'other', 'ttl-amount': '20', 'ttl-unit': 'minutes' }),
    changes: { ttl: 1_200 },
    status: 303,
  }),
  'POST allowMore': manage({ changes: { allowances: 1 }, status: 303 }),
  'POST again': manage({ shows: 'memo' }),
  'GET receiptState': manage({ shows: 'state' }),
  'GET receiptMessage': manage({}),
  'GET sendAgain': redirect,
  'GET memo': redirect,
  'GET lifetime': redirect,
  'GET allowMore': redirect,
  'GET again': redirect,
  'GET private': redirect,
  'GET privateBurn': redirect,
  'GET secret': link({}),
  'POST secret': link({ fields: () => ({ open: 'now' }), changes: { state: 'received' }, shows: 'value' }),
  // For end-to-end secrets alone.
  'POST secretOpen': link({ status: 422 }),
  'POST secretNote': link({}),
  'GET secretCode': redirect,
  'POST secretCode': link({ fields: () => ({ open: 'now' }), status: 422 }),
  'GET secretAgain': link({}),
  'GET secretDone': link({}),
  'POST secretDone': link({ status: 303 }),
  'GET secretBurn': link({}),
  'POST secretBurn': link({ fields: () => ({ burn: 'now' }), changes: burning }),
  'GET recent': list,
  // Of several; `test/web/selected` compares that with what is done one by one.
  'POST recent': manage({
    selected: true,
    fields: ({ metadata }) => ({ act: 'burn', sure: 'yes', 'selected-0': metadata }),
    changes: burning,
    status: 303,
  }),
};

/** Addresses of pages that touch no secret and no record, whatever the method. */
export const otherPages: ReadonlySet<string> = new Set([
  ...[
    'home',
    'bare',
    'suggest',
    'words',
    'signUp',
    'completeSignUp',
    'logIn',
    'logOut',
    'forgotten',
    'reset',
  ],
  ...['account', 'notices', 'password', 'deleteAccount', 'tokens', 'revokeToken', 'sessions', 'endSession'],
  ...['domains', 'domain', 'verifyDomain', 'removeDomain', 'domainBrand', 'domainLogo'],
  ...['language', 'about', 'security', 'status', 'regions', 'asset', 'apiDocs', 'api', 'docs', 'doc', 'sdk'],
  ...['logo', 'icon', 'favicon', 'manifest', 'appIcon', 'touchIcon', 'securityTxt', 'changePassword'],
  // On a request and its answers: test/v2/requests.test.ts.
  ...['ask', 'request', 'answers', 'closeRequest'],
  ...['share', 'robots', 'commandPackage', 'clientPackage', 'misdirected'],
]);

interface CommandRow {
  readonly row: Row;
  readonly args?: (keys: Keys) => readonly string[];
}

/** By what is typed after `mayfly`: of a command that takes both kinds of keys, one row for each. */
export const commandRows: Readonly<Record<string, CommandRow>> = {
  share: { row: create({}), args: () => ['share', '--plain'] },
  generate: { row: create({}), args: () => ['generate'] },
  reveal: { row: reading, args: ({ secret }) => ['reveal', secret] },
  status: {
    row: manage({ onPage: true }),
    args: ({ metadata }) => ['status', `https://mayfly.example/receipt/${metadata}`],
  },
  burn: { row: manage({ changes: burning, onPage: true }), args: ({ metadata }) => ['burn', metadata] },
  deliver: {
    row: manage({ account: true, changes: { mails: 1 } }),
    args: ({ metadata }) => ['deliver', metadata, toOther],
  },
  memo: {
    row: manage({ changes: { memo: 'changed' } }),
    args: ({ metadata }) => ['memo', metadata, 'changed'],
  },
  ttl: { row: manage({ changes: { ttl: 1_200 } }), args: ({ metadata }) => ['ttl', metadata, '20m'] },
  unlock: { row: manage({ changes: { allowances: 1 } }), args: ({ metadata }) => ['unlock', metadata] },
  recent: { row: list, args: () => ['recent'] },
  // Reads as `reveal` does, into the environment of a program.
  run: { row: apart },
};
