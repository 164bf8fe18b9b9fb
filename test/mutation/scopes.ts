/**
 * What is mutated: the code that keeps the promises, by scope. A pattern that matches nothing is an error, so that a moved
 * file is not forgotten.
 */

export interface Scope {
  readonly name: string;
  /** Patterns from the root; matching tests and declaration files are left out. */
  readonly files: readonly string[];
  /** Tests of the whole scope, run early for each of its files. */
  readonly judges: readonly string[];
}

export const scopes: readonly Scope[] = [
  {
    name: 'core',
    files: [
      'src/core/secrets/{reveal,look,access,burn}.ts',
      'src/core/account.ts',
      'src/core/accounts/{tokens,data-key,sign-up,sessions,passwords}.ts',
    ],
    judges: ['test/promises/wiped.test.ts'],
  },
  { name: 'crypto', files: ['src/crypto/*.ts'], judges: ['test/promises/wiped.test.ts'] },
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
      'test/stores/{conformance,model,sqlite,mail-rows,memo-rows,look-rows,burn-rows,deletion,migration}.test.ts',
      'src/store/sqlite/*.test.ts',
    ],
  },
];

/** Tests that need no browser or other program and take less than minutes. */
export const testPatterns = [
  'src/**/*.test.ts',
  'test/{accounts,domains,http,mail,promises,stores,v1,v2,web}/**/*.test.ts',
];
export const isLeftOut = (test: string): boolean => test.includes('.browser.');
