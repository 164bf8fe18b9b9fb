/**
 * Mutants that change nothing which a promise says: no test can or should notice them. Found by their lines, not by
 * their numbers; an entry that no mutant matches any more is reported by the run.
 */

export interface Equivalent {
  readonly path: string;
  /** The line without its indentation, as it is and as the mutant makes it. */
  readonly before: string;
  readonly after: readonly string[];
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    path: 'src/store/sqlite/root-uses.ts',
    before: "return kids.filter((kid) => live(kid === kids.at(-1) ? 'DESC' : 'ASC').get(kid, now) !== null);",
    after: [
      "return kids.filter((kid) => live(kid === kids.at(-2) ? 'DESC' : 'ASC').get(kid, now) !== null);",
      "return kids.filter((kid) => live(kid === kids.at(-0) ? 'DESC' : 'ASC').get(kid, now) !== null);",
      "return kids.filter((kid) => live(kid === kids.at(1) ? 'DESC' : 'ASC').get(kid, now) !== null);",
      "return kids.filter((kid) => live(kid !== kids.at(-1) ? 'DESC' : 'ASC').get(kid, now) !== null);",
    ],
    why: 'From which end a row is looked for decides how long it takes, not whether there is one.',
  },
  {
    path: 'src/crypto/random.ts',
    before: 'pool.fill(0, used, used + length);',
    after: ['pool.fill(1, used, used + length);'],
    why: 'What is handed out is overwritten all the same.',
  },
  {
    path: 'src/store/sqlite/root-uses.ts',
    before: 'if (expiresAt <= (known.get(kid) ?? 0)) return;',
    after: ['if (expiresAt <= (known.get(kid))) return;'],
    why: 'No number is at most undefined, and no time is at most 0.',
  },
  {
    path: 'src/crypto/box.ts',
    before: 'if (box.length < saltBytes) return null;',
    after: [';'],
    why: 'What is too short for its salt has no tag after it either, and does not open.',
  },
  {
    path: 'src/http/credentials.ts',
    before: 'const seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;',
    after: [
      'const seed = crypto.getRandomValues(new BigUint64Array(2))[0] ?? 0n;',
      'const seed = crypto.getRandomValues(new BigUint64Array(1))[0];',
    ],
    why: 'The first of two random numbers is as random as the first of one, and there is always one.',
  },
  {
    path: 'src/http/gcra.ts',
    before: 'const sweptPerInsert = 2;',
    after: ['const sweptPerInsert = 3;'],
    why: 'More than one for each that is added is what keeps the table from holding what has ended; how many more is a matter of speed.',
  },
  {
    path: 'src/crypto/random.ts',
    before: 'const bytes = random(length - filled + 8);',
    after: ['const bytes = random(length - filled + 9);', 'const bytes = random(length - filled + 7);'],
    why: 'How many bytes are drawn at once decides how often it must be drawn again, not what comes of it.',
  },
  {
    path: 'src/store/sqlite/ballast.ts',
    before: 'const chunkBytes = 64 * 1024;',
    after: [
      'const chunkBytes = 65 * 1024;',
      'const chunkBytes = 63 * 1024;',
      'const chunkBytes = 64 * 1025;',
      'const chunkBytes = 64 * 1023;',
    ],
    why: 'How much is written at once, and what counts as next to nothing, may be a little more or less.',
  },
  {
    path: 'src/store/sqlite/log-keeper.ts',
    before: 'if (decidedSinceLook * framesPerDecision * logFrameBytes < limitBytes) return;',
    after: ['if (decidedSinceLook * framesPerDecision * logFrameBytes <= limitBytes) return;'],
    why: 'One decision sooner or later is far within what the ballast has room for.',
  },
  {
    path: 'src/store/sqlite/index-merge.ts',
    before: 'merge.secrets = merge.collected.toSorted((a, b) => a.secret_hint - b.secret_hint);',
    after: [
      'merge.secrets = merge.collected.toSorted((a, b) => a.secret_hint + b.secret_hint);',
      'merge.secrets = merge.collected.toSorted((a, b) => null);',
    ],
    why: 'In which order entries are made decides how many pages are written, not which entries there are.',
  },
  {
    path: 'src/store/sqlite/index-merge.ts',
    before: 'merge.receipts = merge.collected.toSorted((a, b) => a.receipt_hint - b.receipt_hint);',
    after: [
      'merge.receipts = merge.collected.toSorted((a, b) => a.receipt_hint + b.receipt_hint);',
      'merge.receipts = merge.collected.toSorted((a, b) => null);',
    ],
    why: 'As for the other index.',
  },
  {
    path: 'src/store/sqlite/frames.ts',
    before: 'const absent = 0xffff_ffff;',
    after: ['const absent = 4294967294;'],
    why: 'Any length that no part can have says that there is none.',
  },
  {
    path: 'src/store/sqlite/frames.ts',
    before: 'creatorBox: sized() ?? nothing,',
    after: ['creatorBox: sized(),'],
    why: 'The sink writes this part of every record: only the type says that it may be absent.',
  },
  {
    path: 'src/store/sqlite/frames.ts',
    before: 'sealedSecret: sized() ?? nothing,',
    after: ['sealedSecret: sized(),'],
    why: 'The sink writes this part of every record: only the type says that it may be absent.',
  },
  {
    path: 'src/store/sqlite/frames.ts',
    before: 'const [shareDomain, detailsBox, recentBox] = [sized() ?? nothing, sized(), sized()];',
    after: ['const [shareDomain, detailsBox, recentBox] = [sized(), sized(), sized()];'],
    why: 'The sink writes an empty domain, not none.',
  },
  {
    path: 'src/store/sqlite/migrate.ts',
    before: "db.run(migrations[index] ?? '');",
    after: ['db.run(migrations[index]);'],
    why: 'It is called with the numbers of the migrations there are: only the type says that there may be none.',
  },
  {
    path: 'src/http/client-address.ts',
    before: 'return isMapped ? ipv4Of(groups[6] ?? 0, groups[7] ?? 0) : address;',
    after: [
      'return isMapped ? ipv4Of(groups[6], groups[7] ?? 0) : address;',
      'return isMapped ? ipv4Of(groups[6] ?? 0, groups[7]) : address;',
    ],
    why: 'There are always eight groups: only the type says that one may be missing.',
  },
  {
    path: 'src/http/client-address.ts',
    before: 'if (trusted.isEmpty) return socketAddressOf;',
    after: [';'],
    why: 'A list of nobody trusts nobody: this only saves looking.',
  },
  {
    path: 'src/store/sqlite/index-merge.ts',
    before:
      "return this.#db.query<{ upto: number }, []>('SELECT upto FROM index_progress').get()?.upto ?? 0;",
    after: ["return this.#db.query<{ upto: number }, []>('SELECT upto FROM index_progress').get()?.upto;"],
    why: 'The table has its one row from the start.',
  },
  {
    path: 'src/domain/reset.ts',
    before:
      'const session = await beginSession(deps, account, { verifier: password.verifier, dataKey, label });',
    after: ['const session = beginSession(deps, account, { verifier: password.verifier, dataKey, label });'],
    why: 'The key is wrapped before the first wait, and the caller waits for the same session.',
  },
  {
    path: 'src/http/client-address.ts',
    before: "const [a = 0, b = 0, c = 0, d = 0] = address.slice(start).split('.').map(Number);",
    after: [
      "const [a = 1, b = 0, c = 0, d = 0] = address.slice(start).split('.').map(Number);",
      "const [a = 0, b = 1, c = 0, d = 0] = address.slice(start).split('.').map(Number);",
      "const [a = 0, b = 0, c = 1, d = 0] = address.slice(start).split('.').map(Number);",
      "const [a = 0, b = 0, c = 0, d = 1] = address.slice(start).split('.').map(Number);",
    ],
    why: 'There are always four parts: only the type says that one may be missing.',
  },
  {
    path: 'src/http/rate-limit.ts',
    before:
      'export function createRateLimiter({ table, nowMs, maxClients = 65_536 }: RateLimiterOptions): RateLimiter {',
    after: [
      'export function createRateLimiter({ table, nowMs, maxClients = 65537 }: RateLimiterOptions): RateLimiter {',
      'export function createRateLimiter({ table, nowMs, maxClients = 65535 }: RateLimiterOptions): RateLimiter {',
    ],
    why: 'That the table is bounded is tested with a small one; one client more or less is as good.',
  },
  {
    path: 'src/store/sqlite/frames.ts',
    before: 'if (buffer.byteLength <= 16 * firstBufferBytes) this.#spare = buffer;',
    after: [';'],
    why: 'A buffer that is used again only saves making another.',
  },
  {
    path: 'src/http/client-address.ts',
    before: 'if (version === 4) return text;',
    after: ['if (version === 3) return text;', 'if (version === 5) return text;', ';'],
    why: 'What follows changes no IPv4 address: it has no zone, no letters and no group of ffff.',
  },
  {
    path: 'src/store/sqlite/migrate.ts',
    before: 'return Number(Object.values(db.query<object, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0);',
    after: ['return Number(Object.values(db.query<object, []>(`PRAGMA ${pragma}`).get() ?? {})[0]);'],
    why: 'These two pragmas always say a number.',
  },
  {
    path: 'src/domain/authenticate.ts',
    before: "const impossibleToken = '0'.repeat(64) as ApiToken;",
    after: [
      "const impossibleToken = '0'.repeat(65) as ApiToken;",
      "const impossibleToken = '0'.repeat(63) as ApiToken;",
    ],
    why: 'Any token that nobody has is looked up with as much work.',
  },
];
