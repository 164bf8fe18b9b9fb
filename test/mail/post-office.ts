/**
 * A mail server on loopback for tests, told beforehand how to treat each mail.
 *
 * Owns: what arrived, byte for byte, with its envelope. Invariant: nothing leaves this machine.
 */
import type { AddressInfo } from 'node:net';
import { domainToASCII } from 'node:url';
import { SMTPServer as Server, type SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { AccountMail, SecretLinkMail } from '../../src/domain/ports.ts';
import { Sensitive } from '../../src/domain/sensitive.ts';

export interface Arrived {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
}

/** What to do with the next mail; `accept` once the list is used up. */
export type Treatment =
  | { readonly at: 'recipient' | 'message'; readonly reply: number }
  | { readonly at: 'recipient' | 'message'; readonly does: 'drop' | 'stall' }
  | 'accept';

export interface PostOffice {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Whole messages that were offered, accepted or not. */
  readonly offered: readonly string[];
  /** How often a client began a mail. */
  attempts(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openPostOffice(
  treatments: Treatment[] = [],
  options: SMTPServerOptions = {},
): Promise<PostOffice> {
  const arrived: Arrived[] = [];
  const offered: string[] = [];
  let attempts = 0;
  let current: Treatment = 'accept';
  const meet = (at: 'recipient' | 'message', session: { id: string }, done: (error?: Error) => void) => {
    if (current === 'accept' || current.at !== at) return done();
    if ('reply' in current) return done(Object.assign(new Error('Told to'), { responseCode: current.reply }));
    if (current.does === 'drop') dropConnection(server, session.id);
  };
  const server: SMTPServer = new Server({
    authOptional: true,
    logger: false,
    closeTimeout: 50,
    disableReverseLookup: true,
    onMailFrom(_address, _session, done) {
      attempts += 1;
      current = treatments.shift() ?? 'accept';
      done();
    },
    onRcptTo: (_address, session, done) => meet('recipient', session, done),
    async onData(stream, session, done) {
      const raw = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Uint8Array>)).toString('utf8');
      offered.push(raw);
      meet('message', session, (error) => {
        if (error) return done(error);
        const { mailFrom, rcptTo } = session.envelope;
        arrived.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map((to) => toAsciiDomain(to.address)),
          raw,
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.server.address() as AddressInfo).port;
  return {
    url: `smtp://127.0.0.1:${port}`,
    arrived,
    offered,
    attempts: () => attempts,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The server shows domains in Unicode; on the wire they are ASCII. */
function toAsciiDomain(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`;
}

function dropConnection(server: SMTPServer, sessionId: string): void {
  for (const connection of server.connections) {
    if (connection.id === sessionId)
      (connection as unknown as { _socket: { destroy(): void } })._socket.destroy();
  }
}

export function sampleMail(
  changes: { to?: string; from?: string; hasPassphrase?: boolean } = {},
): SecretLinkMail {
  return {
    to: new Sensitive(changes.to ?? 'jo@example.org'),
    from: new Sensitive(changes.from ?? 'ann@example.com'),
    link: new Sensitive('https://secrets.example.com/secret/0123456789abcdefghijklmnopqrstu'),
    hasPassphrase: changes.hasPassphrase ?? false,
    expiresAt: 1_795_000_000,
    locale: 'en',
  };
}

const site = 'https://secrets.example.com';

/** One mail of each kind about an account. */
export function sampleAccountMails(changes: { to?: string; locale?: string } = {}): AccountMail[] {
  const common = { to: new Sensitive(changes.to ?? 'jo@example.org'), locale: changes.locale ?? 'en' };
  const ticketFor = (path: string) => ({
    link: new Sensitive(`${site}/${path}/0123456789abcdefghijklmnopqrstuvwxyz0123456`),
    expiresAt: 1_795_000_000,
  });
  return [
    { ...common, kind: 'sign_up', ...ticketFor('sign-up') },
    { ...common, kind: 'reset', ...ticketFor('reset') },
    { ...common, kind: 'already_signed_up', logInUrl: `${site}/log-in`, forgottenUrl: `${site}/forgotten` },
    { ...common, kind: 'password_changed', forgottenUrl: `${site}/forgotten` },
    { ...common, kind: 'account_deleted' },
  ];
}

/** The links that a mail about an account was given. */
export function linksOf(mail: AccountMail): string[] {
  switch (mail.kind) {
    case 'sign_up':
    case 'reset':
      return [mail.link.expose()];
    case 'already_signed_up':
      return [mail.logInUrl, mail.forgottenUrl];
    case 'password_changed':
      return [mail.forgottenUrl];
    case 'account_deleted':
      return [];
  }
}
