/**
 * A secret whose link was mailed by an account, and the mail server's side of it.
 *
 * Mail is sent as in production; only the transport is replaced, because tests have no mail server.
 */

import type { SignedIn } from '../../src/core/account.ts';
import type { AccountMail, Handover, Mailer, SecretLinkMail } from '../../src/core/mailer.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import type { NoticeKind } from '../../src/protocol/vocabulary.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { type SignedInVisitor, signUpAs } from './signed-in.ts';
import { postForm, type Visit } from './visit.ts';

export const recipient = 'joanna@example.org';
export const otherRecipient = 'carla@example.net';

/** A mail server that answers as told. */
export interface MailServer extends Mailer {
  readonly mails: readonly SecretLinkMail[];
  readonly accountMails: readonly AccountMail[];
  /** Its answer to every mail about a secret from now on; `'nothing'` keeps the mails waiting. */
  says(handover: Handover | 'nothing'): void;
  /** Answers the mail that has waited longest, once there is one. */
  answer(handover: Handover): Promise<void>;
  /** Resolves when a mail is waiting. */
  isWaitedFor(): Promise<void>;
}

export const taken: Handover = { state: 'accepted', reply: '250 2.0.0 Ok: queued as 4711' };

export function openMailServer(): MailServer {
  const mails: SecretLinkMail[] = [];
  const accountMails: AccountMail[] = [];
  const waiting: ((handover: Handover) => void)[] = [];
  let arrival = Promise.withResolvers<void>();
  let word: Handover | 'nothing' = taken;
  return {
    mails,
    accountMails,
    says(next) {
      word = next;
    },
    async answer(handover) {
      await arrival.promise;
      waiting.shift()?.(handover);
      if (waiting.length === 0) arrival = Promise.withResolvers<void>();
    },
    isWaitedFor: () => arrival.promise,
    async sendSecretLink(mail) {
      mails.push(mail);
      if (word !== 'nothing') return word;
      const answered = Promise.withResolvers<Handover>();
      waiting.push(answered.resolve);
      arrival.resolve();
      return answered.promise;
    },
    async sendAccountMail(mail) {
      accountMails.push(mail);
      return taken;
    },
  };
}

/** Signs up with the mails of that server. */
export function signUpBy(server: MailServer, app: TestApp, email: string): Promise<SignedInVisitor> {
  return signUpAs({ ...app, accountMails: server.accountMails }, email);
}

export interface Mailed {
  readonly app: TestApp;
  readonly server: MailServer;
  readonly receiptPath: string;
  readonly secretPath: string;
  readonly signedIn: SignedIn;
  readonly headers: { readonly cookie: string };
  readonly token: { readonly 'form-token': string };
}

export interface MailedOptions extends Omit<TestAppOptions, 'mailer'> {
  /** `null`: the link is not mailed. `recipient` when absent. */
  readonly to?: string | null;
  /** The mail server's answer to the first mail; it accepts the mail when absent. */
  readonly says?: Handover | 'nothing';
  readonly notify?: readonly NoticeKind[];
}

export async function mailSecret(options: MailedOptions = {}): Promise<Mailed> {
  const { to, says, notify, ...ofApp } = options;
  const server = openMailServer();
  return mailSecretIn(createTestApp({ ...ofApp, mailer: server }), server, options);
}

/** Created by ann@example.com, who is logged in; its mail has ended, unless the server says nothing. */
export async function mailSecretIn(
  app: TestApp,
  server: MailServer,
  { to = recipient, says = taken, notify }: Pick<MailedOptions, 'to' | 'says' | 'notify'> = {},
): Promise<Mailed> {
  const { cookie, signedIn } = await signUpBy(server, app, 'ann@example.com');
  server.says(says);
  const input = {
    ...noOptions,
    value: new Sensitive('x'),
    recipient: to === null ? null : new Sensitive(to),
    notify: notify ?? null,
  };
  const made = await app.service.conceal(input, signedIn.caller);
  if (made.outcome !== 'created') throw new Error(`nothing was made: ${made.outcome}`);
  await (says === 'nothing' ? server.isWaitedFor() : app.service.settled());
  return {
    app,
    server,
    signedIn,
    receiptPath: `/receipt/${made.receipt.metadataKey}`,
    secretPath: `/secret/${made.receipt.secretKey}`,
    headers: { cookie },
    token: { 'form-token': signedIn.formToken },
  };
}

/** Sends the receipt's form, as its creator. */
export function press(mailed: Mailed, fields: Readonly<Record<string, string>> = {}): Promise<Visit> {
  const { app, receiptPath, token, headers } = mailed;
  return postForm(app, `${receiptPath}/send-again`, { ...token, ...fields }, headers);
}
