/**
 * What is mutated: the code that keeps the promises, by scope. A pattern that matches nothing is an error, so that a moved
 * file is not forgotten.
 */

export interface Scope {
  readonly name: string;
  /** Patterns from the root; matching tests and declaration files are left out. */
  readonly files: readonly string[];
  /** Patterns of tests that judge, and first, the files whose path matches `of`; all of the scope without one. */
  readonly judges: readonly { readonly of?: RegExp; readonly tests: readonly string[] }[];
  /** No others judge. */
  readonly isClosed?: true;
}

const browser = (...names: readonly string[]) => [`test/web/{${names.join(',')}}.browser.test.ts`];
const wiped = [{ tests: ['test/promises/wiped.test.ts'] }];

export const scopes: readonly Scope[] = [
  {
    name: 'core',
    files: [
      'src/core/secrets/{reveal,look,access,attempts,burn}.ts',
      'src/core/account.ts',
      'src/core/accounts/{tokens,data-key,sign-up,sessions,passwords}.ts',
    ],
    judges: wiped,
  },
  {
    name: 'crypto',
    files: ['src/crypto/*.ts', 'src/protocol/{drawing,link,padding}.ts'],
    judges: wiped,
  },
  {
    name: 'limits',
    files: [
      'src/http/{rate-limit,admission,body,client-address}.ts',
      'src/store/store.ts',
      'src/ops/slow-hashes.ts',
    ],
    judges: [],
  },
  {
    name: 'embedded store',
    files: ['src/store/sqlite/*.ts', 'src/store/store-time.ts'],
    judges: [
      {
        tests: [
          'test/stores/conformance.test.ts',
          'test/stores/{burn-rows,deletion,domains,look-rows,mail-rows,memo-rows,migration,model,note,plain-path,set-time,sqlite,storage-limit}.test.ts',
          'src/store/store-time.test.ts',
          'src/store/sqlite/*.test.ts',
        ],
      },
      { of: /\/mov/, tests: ['test/stores/{move,move-cuts,moved}.test.ts'] },
    ],
    isClosed: true,
  },
  {
    name: 'shared store',
    // Its statements. What keeps the engine honest is proven by faults that take minutes each, too long to judge a mutant.
    files: [
      'src/store/postgres/{accounts,attempts,claims,creations,deletion,domains,endings,epochs,limits,looks}.ts',
      'src/store/postgres/{mail,passwords,receipts,requests,roots,secrets,sessions,sweep,tickets,tokens}.ts',
    ],
    judges: [
      {
        tests: [
          'test/stores/conformance-postgres.test.ts',
          'test/stores/postgres/{accounts,batches,creations,deletion,domains,epochs,limits,password,put,records,shared-work}.test.ts',
        ],
      },
      { of: /\/claims/, tests: ['test/stores/postgres/restores.test.ts'] },
    ],
    isClosed: true,
  },
  {
    name: 'reading',
    files: [
      'src/api/{fields,json}.ts',
      'src/api/v1/wire.ts',
      'src/api/v2/{creation-fields,idempotency-key,sealed,wire}.ts',
      'src/http/{content-type,form,multipart}.ts',
      'src/config/{json,text}.ts',
      'src/cli/{command,env-file,environment,share-many}.ts',
    ],
    judges: [
      { of: /src\/(api|http)/, tests: ['test/http/{bodies,raw}.test.ts'] },
      { of: /src\/(cli|config)/, tests: ['test/cli/{text,transcripts,completion,people}.test.ts'] },
    ],
  },
  {
    name: 'pages',
    // Those that seal, open, hand over and read a value: in the others most mutants change how something looks.
    files: [
      'src/web/client/{handover,reading,reveal,sealed,sealed-link,share-draw,share-sealing,stretching}.ts',
    ],
    judges: [
      { of: /\/share/, tests: browser('share-sealed', 'share-options', 'share', 'share-kept', 'whole-way') },
      {
        of: /\/(handover|sealed-link)/,
        tests: browser('receipt-handover', 'receipt', 'secret-traces', 'whole-way'),
      },
      {
        of: /\/(reveal|sealed\.|stretch)/,
        tests: browser(
          'sealed',
          'secret',
          'lost-answer',
          'secret-traces',
          'damaged-links',
          'note',
          'whole-way',
        ),
      },
      { of: /\/reading/, tests: browser('reading') },
    ],
  },
];

/** Tests that need no browser or other program and take less than minutes. */
export const testPatterns = [
  'src/**/*.test.ts',
  'test/{accounts,domains,http,mail,promises,stores,v1,v2,web}/**/*.test.ts',
];
export const isLeftOut = (test: string): boolean => test.includes('.browser.');
