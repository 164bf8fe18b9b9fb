/**
 * What to do when the mail server does not take mail.
 *
 * Owns: one sentence for each way it can fail. Invariant: the first row that fits is told, so the narrow ones stand above
 * the wide ones; no sentence repeats what the settings keep secret.
 */
import { type AttemptFault, isAboutLogIn } from './faults.ts';
import type { SmtpSettings } from './smtp-url.ts';

interface Explanation {
  readonly fits: (fault: AttemptFault, settings: SmtpSettings) => boolean;
  readonly words: (settings: SmtpSettings) => string;
}

const isTemporary = ({ replyCode }: AttemptFault) => replyCode !== null && replyCode < 500;
const at = ({ host, port }: SmtpSettings) => `${host} on port ${port}`;

const rows: readonly Explanation[] = [
  {
    fits: ({ code }) => code === 'EDNS',
    words: ({ host }) => `There is no host named ${host}, or no name server answers: check MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => cause === 'ECONNREFUSED',
    words: ({ host, port }) =>
      `${host} does not answer on port ${port}, nothing listens there: check host and port in MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => /^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/.test(cause),
    words: ({ host }) => `There is no way to ${host} from here: check this machine’s network.`,
  },
  {
    fits: ({ timeout }) => timeout === 'CONNECT_TIMEOUT',
    words: (settings) =>
      `${at(settings)} does not answer: something in between keeps the connection out. Many networks close port 25; mail is handed over on 465 (smtps) or 587 (smtp).`,
  },
  {
    fits: ({ cause }) => cause === 'ERR_TLS_CERT_ALTNAME_INVALID',
    words: ({ host }) =>
      `The certificate of ${host} is for another name: write the name that stands in it into MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ cause }) => /EXPIRED|NOT_YET_VALID/.test(cause),
    words: ({ host }) =>
      `The certificate of ${host} is out of date, or this machine’s clock is wrong: renew the certificate or set the clock.`,
  },
  {
    fits: ({ cause }) => cause.startsWith('ERR_SSL'),
    words: (settings) =>
      settings.tls === 'implicit'
        ? `${at(settings)} does not encrypt from the first byte: write smtp:// for that port, or smtps:// with port 465.`
        : `${at(settings)} and this machine know no kind of encryption in common: it must speak TLS 1.2 or later.`,
  },
  {
    fits: ({ code, command }) => code === 'ETLS' && command === 'STARTTLS',
    words: (settings) =>
      `${at(settings)} offers no encryption (STARTTLS): write smtps:// with port 465 if it has that; only where the whole way to it is safe add ?tls=never.`,
  },
  {
    fits: ({ code, command }) => code === 'ETLS' && command !== 'CONN',
    words: ({ host }) => `${host} breaks off the encryption: look into its log.`,
  },
  {
    fits: ({ code, cause }) => code === 'ETLS' && cause !== '',
    words: ({ host }) =>
      `Nobody whom this machine trusts vouches for the certificate of ${host}: give the server one that is, or name its authority’s certificate in NODE_EXTRA_CA_CERTS.`,
  },
  {
    fits: (fault) => isAboutLogIn(fault) && isTemporary(fault),
    words: ({ host }) => `${host} cannot check the log-in at present: try again later.`,
  },
  {
    fits: ({ code }, { login }) => code === 'EAUTH' && login !== null,
    words: ({ host }) =>
      `${host} refuses the log-in: check user and password in MAYFLY_SMTP_URL, where each special character is percent-encoded (@ is %40).`,
  },
  {
    fits: isAboutLogIn,
    words: ({ host, login }) =>
      login === null
        ? `${host} wants a log-in: write user and password into MAYFLY_SMTP_URL, smtp://user:password@${host}.`
        : `${host} did not take the log-in, perhaps because it allows none on this port: try 587 (smtp) or 465 (smtps).`,
  },
  {
    fits: (fault) => isTemporary(fault) && /^(MAIL FROM|RCPT TO|DATA)$/.test(fault.command),
    words: ({ host }) =>
      `${host} asks to come back later, as many do with strangers (greylisting). Mayfly tries again by itself for about 20 minutes; here, run this once more in some minutes.`,
  },
  {
    fits: isTemporary,
    words: ({ host }) => `${host} asks to come back later: try again, and look into its log if that lasts.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'MAIL FROM' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the sender: let MAYFLY_MAIL_FROM (and MAYFLY_MAIL_RETURN_PATH) be an address that it may send for.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'RCPT TO' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the recipient: check the address, and whether the server passes mail on for this machine or this log-in.`,
  },
  {
    fits: ({ command, replyCode }) => command === 'DATA' && replyCode !== null,
    words: ({ host }) =>
      `${host} refuses the message: its reply says why; often the sender’s domain lacks SPF or DKIM.`,
  },
  {
    fits: ({ code, replyCode }) => code === 'EPROTOCOL' && replyCode !== null,
    words: ({ host }) => `${host} does not want to talk to this machine: ask whoever runs it to let it in.`,
  },
  {
    fits: ({ code }) => code === 'EPROTOCOL',
    words: (settings) =>
      `${at(settings)} is no mail server, or not one that is understood here: check host and port in MAYFLY_SMTP_URL.`,
  },
  {
    fits: ({ code, timeout }, { tls }) => (code === 'EABORT' || timeout !== '') && tls !== 'implicit',
    words: (settings) =>
      `${at(settings)} takes the connection and falls silent: if that port encrypts from the first byte, write smtps://; else look into its log.`,
  },
  {
    fits: ({ code, timeout }) => code === 'EABORT' || timeout !== '',
    words: (settings) => `${at(settings)} takes the connection and falls silent: look into its log.`,
  },
  {
    fits: ({ code }) => /^(ECONNECTION|ESOCKET|ETLS)$/.test(code),
    words: (settings) =>
      `${at(settings)} breaks the connection off: check that the port is one for mail, and look into the server’s log.`,
  },
];

/** What went wrong and what to do, in one or two sentences. */
export function explain(fault: AttemptFault, settings: SmtpSettings): string {
  const row = rows.find(({ fits }) => fits(fault, settings));
  return row?.words(settings) ?? `${at(settings)} does not take mail (${fault.code}): look into its log.`;
}
