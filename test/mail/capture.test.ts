/** The outbox of files: what it keeps, who may read it, and what its file names reveal. */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { createOutboxMailer } from '../../src/mail/outbox.ts';
import { messageHeaders, replyHeader } from './headers.ts';
import { linksOf, sampleAccountMails, sampleMail } from './post-office.ts';

describe('the outbox', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const mailerIn = (directory: string) =>
    createOutboxMailer({
      directory,
      from: 'noreply@mail.example.com',
      now: () => new Date(1_795_000_000_000),
    });

  it('keeps a mail as one file that only its owner reads, in a folder that only its owner opens', async () => {
    const directory = join(folder, 'outbox');
    expect(await mailerIn(directory).sendSecretLink(sampleMail())).toEqual({
      state: 'accepted',
      reply: null,
    });
    const names = await readdir(directory);
    expect(names).toHaveLength(1);
    expect(((await stat(directory)).mode & 0o777).toString(8)).toBe('700');
    expect(((await stat(join(directory, String(names[0])))).mode & 0o777).toString(8)).toBe('600');
  });

  it('keeps a message that a mail program reads: the link whole, text and HTML, and the usual headers', async () => {
    await mailerIn(folder).sendSecretLink(sampleMail({ hasPassphrase: true }));
    const parsed = await PostalMime.parse(await readFile(join(folder, String((await readdir(folder))[0]))));
    expect(parsed.headers.map((header) => header.key).sort()).toEqual(
      [...messageHeaders, replyHeader].sort(),
    );
    expect(parsed.headers.find((header) => header.key === 'auto-submitted')?.value).toBe('auto-generated');
    expect(parsed.to).toEqual([{ name: '', address: 'jo@example.org' }]);
    expect(parsed.text).toContain(sampleMail().link.expose());
    expect(parsed.html).toContain(`href="${sampleMail().link.expose()}"`);
  });

  it('keeps mails about accounts in the same way, with their links to press', async () => {
    for (const [index, mail] of sampleAccountMails().entries()) {
      const directory = join(folder, String(index));
      expect((await mailerIn(directory).sendAccountMail(mail)).state).toBe('accepted');
      const [name = ''] = await readdir(directory);
      expect(name).toMatch(/^2026-11-18T11-06-40-000Z-[0-9a-f]{8}\.eml$/);
      expect(((await stat(join(directory, name))).mode & 0o777).toString(8)).toBe('600');
      const parsed = await PostalMime.parse(await readFile(join(directory, name)));
      expect(parsed.headers.map((header) => header.key).sort()).toEqual([...messageHeaders].sort());
      expect(parsed.to).toEqual([{ name: '', address: 'jo@example.org' }]);
      for (const link of linksOf(mail)) {
        expect(parsed.text).toContain(link);
        expect(parsed.html).toContain(`href="${link}"`);
      }
    }
  });

  it('keeps every link in one piece, so that it can be copied out of the file with any tool', async () => {
    const [signUp] = sampleAccountMails();
    if (signUp === undefined) throw new Error('there is no sample');
    await mailerIn(folder).sendAccountMail(signUp);
    const kept = await readFile(join(folder, String((await readdir(folder))[0])), 'utf8');
    const [link = ''] = linksOf(signUp);
    expect(kept.split('\r\n')).toContain(link);
    expect(kept).not.toMatch(/[^\r]\n/);
  });

  it('names files by their time alone: no key, no address', async () => {
    const mailer = mailerIn(folder);
    await Promise.all([1, 2, 3].map(() => mailer.sendSecretLink(sampleMail())));
    const names = await readdir(folder);
    expect(names).toHaveLength(3);
    for (const name of names) expect(name).toMatch(/^2026-11-18T11-06-40-000Z-[0-9a-f]{8}\.eml$/);
  });

  it('says not sent when the file cannot be written or the recipient is no address', async () => {
    const blocked = join(folder, 'file');
    await writeFile(blocked, '');
    const notSent = { state: 'not_sent', reply: null } as const;
    expect(await mailerIn(blocked).sendSecretLink(sampleMail())).toEqual(notSent);
    expect(await mailerIn(folder).sendSecretLink(sampleMail({ to: 'a@b.org\r\nBcc: c@d.org' }))).toEqual(
      notSent,
    );
  });
});
