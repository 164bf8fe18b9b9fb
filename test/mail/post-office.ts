/**
 * A mail server on loopback for tests, told in advance how to treat each mail.
 *
 * Nothing leaves this machine.
 */
import type { AddressInfo } from 'node:net';
import { domainToASCII } from 'node:url';
import { SMTPServer as Server, type SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { AccountMail, MailBrand, SecretLinkMail } from '../../src/core/mailer.ts';
import { Sensitive } from '../../src/core/sensitive.ts';

export interface Arrived {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly isEncrypted: boolean;
}

/** The step of the dialog at which something happens to a mail. */
export type Place = 'sender' | 'recipient' | 'message';

/** What to do with the next mail; `accept` once the list is used up. */
export type Treatment =
  | { readonly at: Place; readonly reply: number; readonly saying?: string }
  | { readonly at: Place; readonly does: 'drop' | 'stall' }
  | 'accept';

export interface PostOffice {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Complete messages that were offered, accepted or not. */
  readonly offered: readonly string[];
  /** How often a client started a mail. */
  attempts(): number;
  /** Connections so far, and the largest number at once. */
  connections(): { readonly all: number; readonly most: number };
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openPostOffice(
  treatments: Treatment[] = [],
  options: SMTPServerOptions = {},
): Promise<PostOffice> {
  const arrived: Arrived[] = [];
  const offered: string[] = [];
  let attempts = 0;
  const connections = { all: 0, most: 0 };
  const current = new Map<string, Treatment>();
  const meet = (at: Place, { id }: { id: string }, done: (error?: Error) => void) => {
    const treatment = current.get(id) ?? 'accept';
    if (treatment === 'accept' || treatment.at !== at) return done();
    if ('reply' in treatment) {
      const { reply: responseCode, saying = 'Told to' } = treatment;
      return done(Object.assign(new Error(saying), { responseCode }));
    }
    if (treatment.does === 'drop') dropConnection(server, id);
  };
  const server: SMTPServer = new Server({
    authOptional: true,
    logger: false,
    closeTimeout: 50,
    disableReverseLookup: true,
    onConnect(_session, done) {
      connections.all += 1;
      connections.most = Math.max(connections.most, server.connections.size);
      done();
    },
    onMailFrom(_address, session, done) {
      attempts += 1;
      current.set(session.id, treatments.shift() ?? 'accept');
      meet('sender', session, done);
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
          isEncrypted: session.secure,
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
    connections: () => ({ ...connections }),
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

export const sampleBrand: MailBrand = { name: 'Example Safe', host: 'secrets.example.com', colour: null };

export interface SampleChanges {
  readonly to?: string;
  readonly from?: string;
  readonly senderName?: string;
  readonly link?: string;
  readonly hasPassphrase?: boolean;
  readonly locale?: string;
  readonly brand?: Partial<MailBrand>;
}

export function sampleMail(changes: SampleChanges = {}): SecretLinkMail {
  return {
    to: new Sensitive(changes.to ?? 'jo@example.org'),
    from: new Sensitive(changes.from ?? 'ann@example.com'),
    senderName: changes.senderName ?? null,
    link: new Sensitive(changes.link ?? 'https://secrets.example.com/secret/0123456789abcdefghijklmnopqrstu'),
    hasPassphrase: changes.hasPassphrase ?? false,
    expiresAt: 1_795_000_000,
    locale: changes.locale ?? 'en',
    brand: { ...sampleBrand, ...changes.brand },
  };
}

const site = 'https://secrets.example.com';

/** One mail of each kind about an account. */
export function sampleAccountMails(
  changes: Pick<SampleChanges, 'to' | 'locale' | 'brand'> = {},
): AccountMail[] {
  const common = { to: new Sensitive(changes.to ?? 'jo@example.org'), locale: changes.locale ?? 'en' };
  const ticketFor = (path: string) => ({
    link: new Sensitive(`${site}/${path}/0123456789abcdefghijklmnopqrstuvwxyz0123456`),
    expiresAt: 1_795_000_000,
  });
  const notice = {
    ...common,
    createdAt: 1_794_000_000,
    at: 1_795_000_000,
    recentUrl: `${site}/recent`,
    brand: { ...sampleBrand, ...changes.brand },
  };
  return [
    { ...common, kind: 'sign_up', ...ticketFor('sign-up') },
    { ...common, kind: 'reset', ...ticketFor('reset') },
    { ...common, kind: 'already_signed_up', logInUrl: `${site}/log-in`, forgottenUrl: `${site}/forgotten` },
    { ...common, kind: 'password_changed', forgottenUrl: `${site}/forgotten`, tokens: 'revoke' },
    { ...common, kind: 'password_set', forgottenUrl: `${site}/forgotten`, tokens: 'keep' },
    { ...common, kind: 'token_created', name: 'Backup', forgottenUrl: `${site}/forgotten` },
    { ...common, kind: 'account_deleted' },
    {
      ...{ ...common, kind: 'code', brand: notice.brand, code: new Sensitive('493207'), isInSubject: false },
      ...{ from: new Sensitive('anna@example.com'), senderName: null },
    },
    { ...notice, kind: 'secret_read' },
    { ...notice, kind: 'secret_burned' },
    { ...notice, kind: 'secret_expiring' },
    { ...notice, kind: 'request_answered' },
  ];
}

/** The links in a mail about an account. */
export function linksOf(mail: AccountMail): string[] {
  switch (mail.kind) {
    case 'sign_up':
    case 'reset':
      return [mail.link.expose()];
    case 'already_signed_up':
      return [mail.logInUrl, mail.forgottenUrl];
    case 'password_changed':
    case 'password_set':
    case 'token_created':
      return [mail.forgottenUrl];
    case 'account_deleted':
    case 'code':
    case 'request_answered':
      return [];
    case 'secret_read':
    case 'secret_burned':
    case 'secret_expiring':
      return [mail.recentUrl];
  }
}
