/** A person who is logged in to an account, created through the sign-up mail as in production. */
import type { SignedIn } from '../../src/core/account.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createSessionCookie } from '../../src/web/kit/session.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';

export const password = 'nine ordinary words of my own making, no more';

export interface SignedInVisitor {
  readonly signedIn: SignedIn;
  /** The value of a `Cookie` header. */
  readonly cookie: string;
}

export async function signUpAs(app: TestApp, email: string): Promise<SignedInVisitor> {
  const { accounts } = app;
  await accounts.requestSignUp({ email, locale: 'en' });
  await accounts.settled();
  const mail = app.accountMails.at(-1);
  if (mail === undefined || !('link' in mail)) throw new Error(`no mail completes the sign-up of ${email}`);
  const ticket = new URL(mail.link.expose()).pathname.split('/').at(-1) ?? '';
  const made = await accounts.signUp({
    clientPrefix: '',
    ticket,
    password: new Sensitive(password),
    label: 'a test',
  });
  if (made.outcome !== 'signed_up') throw new Error(`${email} could not sign up: ${made.outcome}`);
  const signedIn = await accounts.openSession(made.session.token.expose());
  if (signedIn === null) throw new Error(`the session of ${email} does not open`);
  const isSecure = app.links.baseUrl.startsWith('https:');
  const cookie = createSessionCookie(isSecure).set(made.session, app.clock.now()).split(';')[0] ?? '';
  return { signedIn, cookie };
}

/** A logged-in person, and a store that finds no session while it is away. */
export async function signInWithLosableStore(options: Omit<TestAppOptions, 'wrapStore'> = {}) {
  let isAway = false;
  const app = createTestApp({
    ...options,
    isReady: async () => !isAway,
    wrapStore: (store) => ({
      ...store,
      findSession: async (hash) => {
        if (isAway) throw new ServiceError('unavailable', 'the store is away');
        return store.findSession(hash);
      },
    }),
  });
  const { cookie, signedIn } = await signUpAs(app, 'alice@example.com');
  const lose = () => {
    isAway = true;
  };
  const regain = () => {
    isAway = false;
  };
  return { app, cookie, formToken: signedIn.formToken, lose, regain };
}
