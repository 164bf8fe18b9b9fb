/** The page of a link that the operator has handed over, without a browser. */
import { describe, expect, it } from 'bun:test';
import { inviteAccount } from '../../src/core/accounts/account-links.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { address, newPassword, openAccountVisitor, wrongFields } from './account-visitor.ts';
import { sendForm, visit } from './visit.ts';
import { saying } from './words.ts';

async function invite(app: TestApp): Promise<string> {
  const deps = { store: app.store, random: systemRandom };
  const made = await inviteAccount(deps, { email: address, plan: 'basic' });
  if (made.outcome !== 'invited') throw new Error(made.outcome);
  return new URL(app.links.resetUrl(made.ticket.expose())).pathname;
}

describe('the link to a new account', () => {
  it('asks for a password, speaks of nothing that is lost, and logs in, also where sign-up is closed', async () => {
    const app = createTestApp({ signUpIsOpen: false });
    const path = await invite(app);
    const form = await visit(app, path);
    expect(form.html).toMatch(saying('signUp.chooseTitle'));
    expect(form.html).toContain(address);
    expect(form.html).not.toMatch(saying('reset.changesList'));
    expect(form.html).not.toContain('name="token"');
    const visitor = openAccountVisitor(app);
    await visitor.get(path);
    const set = await visitor.post(path, { password: newPassword });
    expect(set.headers.get('location')).toBe('/account?done=signed-up');
    expect((await visitor.get('/account?done=signed-up')).html).toMatch(saying('account.welcome'));
  });

  it('comes back with a password that is refused, and still works', async () => {
    const app = createTestApp();
    const path = await invite(app);
    const refused = await sendForm(app, path, { password: 'short' });
    expect([refused.status, wrongFields(refused.html)]).toEqual([422, ['password']]);
    expect(refused.html).toMatch(saying('signUp.chooseTitle'));
    expect((await sendForm(app, path, { password: newPassword })).status).toBe(303);
  });

  it('P4: is not used up by looking, and works once', async () => {
    const app = createTestApp();
    const path = await invite(app);
    for (let looked = 0; looked < 3; looked += 1) expect((await visit(app, path)).status).toBe(200);
    expect((await sendForm(app, path, { password: newPassword })).status).toBe(303);
    expect((await visit(app, path)).status).toBe(404);
    expect((await sendForm(app, path, { password: newPassword })).status).toBe(404);
  });
});
