/** The pages while the store does not answer: nothing typed is lost, and the status page still says what is wrong. */
import { describe, expect, it } from 'bun:test';
import { signInWithLosableStore } from './signed-in.ts';
import { postForm, textIn, valueIn, visit } from './visit.ts';
import { words } from './words.ts';

const typed = { secret: 'typed by\nsomebody', passphrase: 'and this' };

describe('somebody who is logged in, while the store is away', () => {
  it('gets the form back with everything typed, and can send it when the store is back', async () => {
    const { app, cookie, formToken, lose, regain } = await signInWithLosableStore();
    lose();
    const refused = await postForm(app, '/share', { ...typed, 'form-token': formToken }, { cookie });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect([textIn(refused.html, 'secret'), valueIn(refused.html, 'passphrase')]).toEqual([
      typed.secret,
      typed.passphrase,
    ]);
    regain();
    // The form came back without the session's form token. It is given back once more, now with the token, and then
    // accepted.
    const stale = await postForm(app, '/share', typed, { cookie });
    expect([stale.status, textIn(stale.html, 'secret')]).toEqual([403, typed.secret]);
    const taken = await postForm(app, '/share', { ...typed, 'form-token': formToken }, { cookie });
    expect(taken.status).toBe(303);
    expect(app.events.filter(({ event }) => event === 'concealed')).toHaveLength(1);
  });

  it('is told 503 by pages that need the session, and shown those that do not', async () => {
    const { app, cookie, lose } = await signInWithLosableStore();
    lose();
    const statuses = ['/', '/account', '/recent', '/about', '/security', '/nope'].map(async (path) => {
      const { status } = await visit(app, path, { headers: { cookie } });
      return [path, status];
    });
    expect(await Promise.all(statuses)).toEqual([
      ['/', 503],
      ['/account', 503],
      ['/recent', 503],
      ['/about', 200],
      ['/security', 200],
      ['/nope', 404],
    ]);
    const status = await visit(app, '/status', { headers: { cookie } });
    expect(status.status).toBe(503);
    expect(status.html).toContain(words('status.fails'));
    expect(app.faults).toEqual([]);
  });
});
