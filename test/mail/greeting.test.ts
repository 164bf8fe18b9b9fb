/** What Mayfly calls itself towards a mail server: never by the name of the machine, which in a container is nobody's. */
import { describe, expect, it } from 'bun:test';
import { tryMailServer } from '../../src/app.ts';
import type { Environment } from '../../src/config/read.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createSmtpMailer } from '../../src/mail/smtp.ts';
import { settingsOf } from '../support/settings.ts';
import { sampleMail } from './post-office.ts';
import { openStubbornServer, type StubbornServer } from './stubborn-server.ts';

const greetingsOf = ({ heard }: StubbornServer) =>
  heard.flatMap((text) => [...text.matchAll(/^(?:EHLO|HELO) (\S+)\r$/gm)].map(([, name = '']) => name));

/** Every connection to a mail server that the product opens, and how many. */
const doors: Readonly<
  Record<string, { readonly connections: number; use(env: Environment): Promise<unknown> }>
> = {
  'a mail': {
    connections: 1,
    async use(env) {
      const { smtpServer: server, mailFrom: from, mailHelo: helo } = settingsOf(env);
      if (server === null) throw new Error('no mail server');
      const mailer = createSmtpMailer({ server, from, helo });
      expect((await mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
      mailer.close();
    },
  },
  'the doctor': {
    connections: 2,
    async use(env) {
      const settings = settingsOf(env);
      if (settings.smtpServer === null) throw new Error('no mail server');
      const tried = await tryMailServer(settings, settings.smtpServer, new Sensitive('jo@example.org'));
      expect([tried.server.outcome, tried.testMail?.outcome]).toEqual(['well', 'well']);
    },
  },
};

const cases: readonly (readonly [string, Environment, string])[] = [
  [
    'the host of its address',
    { MAYFLY_BASE_URL: 'https://Secrets.example.com:8443/x' },
    'secrets.example.com',
  ],
  ['that in ASCII', { MAYFLY_BASE_URL: 'https://geheim.bücher.example' }, 'geheim.xn--bcher-kva.example'],
  ...[
    'http://localhost:3000',
    'http://app.localhost',
    'http://127.0.0.1',
    'http://[::1]:80',
    'https://192.0.2.7',
    'http://intranet',
  ].map(
    (MAYFLY_BASE_URL) =>
      [
        `the sender’s domain at ${MAYFLY_BASE_URL}`,
        { MAYFLY_BASE_URL, MAYFLY_MAIL_FROM: 'Safe <s@mail.example.org>' },
        'mail.example.org',
      ] as const,
  ),
  ['no name of this machine, with nothing set', {}, 'mayfly.invalid'],
  [
    'what the setting says',
    { MAYFLY_BASE_URL: 'https://secrets.example.com', MAYFLY_MAIL_HELO: 'Out.example.net' },
    'out.example.net',
  ],
];

describe('the greeting of a mail server', () => {
  for (const [door, { connections, use }] of Object.entries(doors))
    for (const [name, env, greeting] of cases)
      it(`by ${door} is ${name}`, async () => {
        await using server = await openStubbornServer([]);
        await use({ MAYFLY_DNS_SERVERS: '127.0.0.1:9', ...env, MAYFLY_SMTP_URL: server.url });
        expect(greetingsOf(server)).toEqual(Array(connections).fill(greeting));
        // Nor does the message: neither its id nor its boundaries, its date or a header that names a host.
        for (const message of server.taken) {
          const [, sender = ''] = /^From: .*@([\w.-]+)>?\r$/m.exec(message.replace(/\r\n[ \t]+/g, ' ')) ?? [];
          expect(message).toMatch(new RegExp(`^Message-ID: <[0-9a-f]{32}@${sender}>\r$`, 'm'));
          expect(message).toMatch(/boundary="--_NmP-[0-9a-f]{16}-Part_\d"/);
          expect(message).toMatch(/^Date: .* \+0000\r$/m);
          expect(message).not.toMatch(/^(?:Received|X-[\w-]+|User-Agent|Sender):/im);
        }
      });

  it('is set to a host name only', () => {
    for (const wrong of ['a b', 'x\r\nMAIL FROM:<a@b.org>', 'https://mail.example.com', '[127.0.0.1'])
      expect(() => settingsOf({ MAYFLY_MAIL_HELO: wrong })).toThrow('MAYFLY_MAIL_HELO');
  });
});
