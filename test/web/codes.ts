/** A secret that asks for a code, and how its reader gets on without scripts. */
import { Sensitive } from '../../src/core/sensitive.ts';
import type { TestApp } from '../support/app.ts';
import { hiddenIn, postForm, type Visit, visit } from './visit.ts';

export const mailbox = 'anna@example.org';
export const shownMailbox = 'an•••@e•••.org';

type Fields = Readonly<Record<string, string>>;

/** The last code that was mailed. */
export async function codeMailed(app: TestApp): Promise<string> {
  await app.service.settled();
  const mail = app.accountMails.findLast(({ kind }) => kind === 'code');
  if (mail === undefined || !('code' in mail)) throw new Error('no code was mailed');
  return mail.code.expose();
}

export const codesMailed = (app: TestApp) => app.accountMails.filter(({ kind }) => kind === 'code').length;

export const wrongFor = (code: string) => (code === '111111' ? '222222' : '111111');

/** A browser that keeps cookies. */
export function createReader(app: TestApp, path: string) {
  const jar = new Map<string, string>();
  const headers = () => ({ cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') });
  const keep = (shown: Visit) => {
    for (const line of shown.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s);
      jar.set(name, value);
    }
    return shown;
  };
  let field = '';
  const reader = {
    jar,
    async look(to = path) {
      const shown = keep(await visit(app, to, { headers: headers() }));
      field = hiddenIn(shown.html, 'look') ?? '';
      return shown;
    },
    /** As a form of the page that was looked at last. */
    send: async (to: string, fields: Fields) =>
      keep(await postForm(app, to, { look: field, ...fields }, headers())),
    /** Asks for a code, and follows the answer. */
    async askForCode(fields: Fields = {}) {
      await reader.look(`${path}?again`);
      const sent = await reader.send(`${path}/code`, { open: 'now', ...fields });
      return { sent, shown: await reader.look() };
    },
    open: (fields: Fields) => reader.send(path, fields),
  };
  return reader;
}

/** Guesses codes until only the creator can allow more. */
export async function lockCodes(app: TestApp, secretKey: string): Promise<void> {
  const look = new Uint8Array(16).fill(1);
  const shared = { secretKey, look, passphrase: null, proofs: null, isAbandoned: () => false };
  for (let round = 0; round < 5; round += 1) {
    const clientPrefix = `10.${round}.0.0`;
    await app.service.mailCode({ secretKey, look, linkProof: null, clientPrefix, locale: 'en' });
    const code = wrongFor(await codeMailed(app));
    for (let guess = 0; guess < 20; guess += 1) {
      const input = {
        ...shared,
        code,
        clientPrefix: `10.${round}.${guess}.0`,
        passphrase: new Sensitive(''),
      };
      await app.service.reveal(input, { kind: 'anonymous' });
    }
    app.clock.advance(600);
  }
}
