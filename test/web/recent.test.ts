/** The list of what an account has shared, without a browser. */
import { describe, expect, it } from 'bun:test';
import type { AccountCaller } from '../../src/core/account.ts';
import type { ReceiptView } from '../../src/core/secrets/outcomes.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { type AccountVisitor, openAccountVisitor, signUp } from './account-visitor.ts';
import { mailSecret, taken } from './mailed.ts';
import { visit, wordsOf } from './visit.ts';
import { saying, words } from './words.ts';

async function callerOf(app: TestApp, visitor: AccountVisitor): Promise<AccountCaller> {
  const token = /__Host-mayfly=([0-9a-f]{64})/.exec(visitor.cookie())?.[1] ?? '';
  const found = await app.accounts.openSession(token);
  if (found === null) throw new Error('the session is not open');
  return found.caller;
}

async function conceal(
  app: TestApp,
  caller: AccountCaller,
  options: {
    readonly recipient?: string;
    readonly passphrase?: string;
    readonly memo?: string;
    readonly ttlSeconds?: number;
  } = {},
): Promise<ReceiptView> {
  const { recipient, passphrase, memo, ttlSeconds = 3_600 } = options;
  const made = await app.service.conceal(
    {
      ...noOptions,
      value: new Sensitive('canary value'),
      ttlSeconds,
      recipient: recipient === undefined ? null : new Sensitive(recipient),
      memo: memo === undefined ? null : new Sensitive(memo),
      passphrase: passphrase === undefined ? null : new Sensitive(passphrase),
    },
    caller,
  );
  if (made.outcome !== 'created') throw new Error(`nothing was created: ${made.outcome}`);
  return made.receipt;
}

/** The metadata keys in the order in which the page lists them. */
function listed(html: string): string[] {
  return [...html.matchAll(/href="\/receipt\/([0-9a-z]{31})" id="receipt-/g)].map(([, key]) => key ?? '');
}

/** What the rows are called. */
function namesIn(html: string): string[] {
  return [...html.matchAll(/id="receipt-\d+"[^>]*>(.*?)<\/a>/g)].map(([, name]) => wordsOf(name ?? ''));
}

function olderIn(html: string): string | null {
  return /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? null;
}

describe('the recent list', () => {
  it('says how to fill it while it is empty, and why it may be shorter than expected', async () => {
    const { status, html } = await (await signUp(createTestApp())).get('/recent');
    expect(status).toBe(200);
    for (const text of [words('recent.emptyTitle'), words('recent.share'), words('recent.shorter')]) {
      expect(html).toContain(text);
    }
    for (const state of ['Waiting', 'Opened', 'Burned', 'Expired'] as const)
      expect(html).toContain(words(`recent.means${state}`));
  });

  it('shows each secret’s state, obfuscated recipient, time left and passphrase, newest first', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const caller = await callerOf(app, visitor);
    const first = await conceal(app, caller, {
      recipient: 'john.doe@example.org',
      passphrase: 'canary pass',
    });
    app.clock.advance(60);
    const second = await conceal(app, caller);
    const { html } = await visitor.get('/recent');
    expect(listed(html)).toEqual([second.metadataKey, first.metadataKey]);
    for (const text of [
      words('recent.to', { recipient: 'jo*****@e*****.org' }),
      'about 1 hour</time>',
      words('recent.waiting'),
      words('recent.withPassphrase'),
    ]) {
      expect(html).toContain(text);
    }
    for (const secret of ['john.doe', 'canary', first.secretKey, second.secretKey]) {
      expect(html).not.toContain(String(secret));
    }
  });

  it('names each secret by its label, or its recipient, or how its link begins: no two rows sound alike', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const caller = await callerOf(app, visitor);
    await conceal(app, caller, { memo: 'Side <door>', recipient: 'john.doe@example.org' });
    await conceal(app, caller, { recipient: 'john.doe@example.org' });
    const untitled = [await conceal(app, caller), await conceal(app, caller)];
    const { html } = await visitor.get('/recent');
    const code = (receipt: ReceiptView) => words('recent.code', { code: receipt.secretShortkey });
    expect(namesIn(html)).toEqual([
      ...untitled.map((receipt) => `${words('recent.untitled')} ${code(receipt)}`).reverse(),
      words('recent.to', { recipient: 'jo*****@e*****.org' }),
      'Side &lt;door&gt;',
    ]);
  });

  it('offers to burn and to send again only what is still waiting, and to send again only what was mailed', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const caller = await callerOf(app, visitor);
    const mailed = await conceal(app, caller, { recipient: 'john.doe@example.org' });
    const quiet = await conceal(app, caller);
    const burned = await conceal(app, caller, { recipient: 'john.doe@example.org' });
    await app.service.burn(
      { proof: null, metadataKey: burned.metadataKey, authority: 'owner', isAbandoned: clientStays },
      caller,
    );
    const { html } = await visitor.get('/recent');
    const offered = ({ metadataKey }: ReceiptView) =>
      ['/burn"', '#delivery"'].map((end) => html.includes(`href="/receipt/${metadataKey}${end}`));
    expect([mailed, quiet, burned].map(offered)).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ]);
  });

  it('says when it was the recipient who burned a secret', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const { secretKey } = await conceal(app, await callerOf(app, visitor));
    await app.service.burnByRecipient({
      passphrase: null,
      proofs: null,
      secretKey: String(secretKey),
      clientPrefix: '192.0.2.0/24',
      isAbandoned: clientStays,
    });
    expect((await visitor.get('/recent')).html).toMatch(saying('recent.burnedByRecipientAt'));
  });

  it('says where a link did not arrive by mail, and nothing where it was accepted', async () => {
    for (const [says, isSaid] of [
      [{ state: 'refused', reply: '550 5.1.1 No such user here' }, true],
      [taken, false],
    ] as const) {
      const { app, headers } = await mailSecret({ says });
      const { html } = await visit(app, '/recent', { headers });
      expect(html.includes(words('recent.notDelivered'))).toBe(isSaid);
    }
  });

  it('can be narrowed to a state, and says so when there is none of it', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const caller = await callerOf(app, visitor);
    const expired = await conceal(app, caller, { ttlSeconds: 60 });
    app.clock.advance(61);
    const waiting = await conceal(app, caller, { ttlSeconds: 86_400 });
    const opened = await conceal(app, caller, { ttlSeconds: 86_400 });
    await app.service.reveal(
      {
        passphrase: null,
        proofs: null,
        secretKey: String(opened.secretKey),
        clientPrefix: '192.0.2.0/24',
        isAbandoned: clientStays,
      },
      { kind: 'anonymous' },
    );
    const of = async (state: string) => listed((await visitor.get(`/recent?state=${state}`)).html);
    expect(await of('waiting')).toEqual([waiting.metadataKey]);
    expect(await of('opened')).toEqual([opened.metadataKey]);
    expect(await of('expired')).toEqual([expired.metadataKey]);
    expect(await of('')).toHaveLength(3);
    expect(await of('nonsense')).toHaveLength(3);
    const burned = await visitor.get('/recent?state=burned');
    expect(burned.html).toContain(words('recent.noneBurned'));
    expect(burned.html).toMatch(/href="\/recent\?state=burned" aria-current="page"/);
  });

  it('has 50 a page; the older ones follow without gap or repetition, also when it is narrowed', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const caller = await callerOf(app, visitor);
    const made: string[] = [];
    for (let time = 0; time < 120; time++) made.push((await conceal(app, caller)).metadataKey);
    for (const start of ['/recent', '/recent?state=waiting']) {
      const keys: string[] = [];
      const lengths: number[] = [];
      let path: string | null = start;
      while (path !== null) {
        const { html } = await visitor.get(path);
        keys.push(...listed(html));
        lengths.push(listed(html).length);
        path = olderIn(html);
      }
      expect(lengths).toEqual([50, 50, 20]);
      expect(keys).toEqual([...made].reverse());
    }
  });

  it('shows what a notice is about, by when it was created, and says where that is no longer listed', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const caller = await callerOf(app, visitor);
    await conceal(app, caller, { memo: 'another' });
    app.clock.advance(60);
    const asked = await conceal(app, caller, { memo: 'the one', ttlSeconds: 3_600 });
    app.clock.advance(60);
    await conceal(app, caller, { memo: 'later' });
    const path = `/recent?at=${asked.createdAt}`;
    expect(namesIn((await visitor.get(path)).html)).toEqual(['the one']);
    app.clock.advance(7_200);
    const { html } = await visitor.get(path);
    expect([listed(html), html.includes(words('recent.noneAt'))]).toEqual([[], true]);
    for (const at of ['', 'x', '-1', '1e9', '9'.repeat(12)])
      expect((await visitor.get(`/recent?at=${at}`)).html).not.toContain(words('recent.noneAt'));
  });

  it('starts again, and says so, where its address names a part that is not there', async () => {
    const visitor = await signUp(createTestApp());
    for (const cursor of ['!', 'AAAA', '%00', 'x'.repeat(5_000)]) {
      const { status, html } = await visitor.get(`/recent?cursor=${cursor}`);
      expect([status, html.includes(words('recent.badCursor'))]).toEqual([200, true]);
    }
  });

  it('holds nobody else’s secrets (P16), and needs a session', async () => {
    const app = createTestApp();
    const alice = await signUp(app);
    const bob = await signUp(app, 'bob@example.com');
    const receipt = await conceal(app, await callerOf(app, alice));
    expect(listed((await alice.get('/recent')).html)).toEqual([receipt.metadataKey]);
    expect((await bob.get('/recent')).html).not.toContain(receipt.metadataKey);
    expect((await openAccountVisitor(app).get('/recent')).headers.get('location')).toBe(
      '/log-in?back=%2Frecent',
    );
  });

  it('is changed by no look at it (P4), and kept by no cache (P19)', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const receipt = await conceal(app, await callerOf(app, visitor));
    const seen = await visitor.get('/recent');
    await visit(app, '/recent', { method: 'HEAD', headers: { cookie: visitor.cookie() } });
    expect(seen.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(seen.headers.get('referrer-policy')).toBe('no-referrer');
    expect(seen.headers.get('content-encoding')).toBeNull();
    const found = await app.service.findReceipt(
      { metadataKey: receipt.metadataKey, authority: 'holder' },
      { kind: 'anonymous' },
    );
    expect(found).toMatchObject({ receipt: { state: 'new' } });
  });
});
