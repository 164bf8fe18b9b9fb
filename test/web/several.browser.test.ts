/** One value for several people with scripts: each link is sealed in the browser, and all are shown until they are copied or saved. */
import { describe, expect } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { prove, open as unseal } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { ServiceError } from '../../src/core/errors.ts';
import type { TestApp } from '../support/app.ts';
import { carry, flawsInBothLights, keptBy, nothingKept, noticedBy, openOption, tabTo } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser({ endToEnd: 'default' });
const scripts = { scripts: true } as const;
const value = 'canary-of-a-value';
const passphrase = 'canary-of-a-passphrase';

async function type(page: Page, baseUrl: string, people: string): Promise<void> {
  await page.goto(`${baseUrl}/`);
  await page.fill('#secret', value);
  await openOption(page, 'people');
  await page.fill('#people', people);
}

async function linksOn(page: Page): Promise<string[][]> {
  await page.waitForSelector('#all:visible');
  return (await page.inputValue('#all')).split('\n').map((line) => line.split(/: (?=http)/));
}

/** As a recipient's client does; `null` if the link opens nothing. */
async function openLink(app: TestApp, link: string, asked: string | null): Promise<unknown> {
  const { pathname, hash } = new URL(link);
  const { linkProof, proof, key } = await prove(hash.slice(1), asked, stretch);
  const body = JSON.stringify({ link_proof: linkProof, proof, continue: true });
  const headers = { 'content-type': 'application/json' };
  const answer = await app.fetch(`/api/v2${pathname}/reveal`, { method: 'POST', headers, body });
  if (answer.status !== 200) return null;
  const { record } = (await answer.json()) as { record: { sealed: { ciphertext: string } } };
  return unseal(record.sealed.ciphertext, key);
}

async function abortSecondPost(page: Page): Promise<void> {
  let posts = 0;
  await page.route('**/share', (route) => {
    posts += 1;
    return posts === 2 ? route.abort() : route.continue();
  });
}

describe('one value for several people, in a browser', () => {
  itInBrowser(
    'is sealed for each anew: a link opens once and only its own, and no value leaves the browser (P9, P18)',
    scripts,
    async ({ site, visitor, page }) => {
      const sent: string[] = [];
      page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
      await type(page, site.baseUrl, 'Ana\nBen, ben@example.org\n\n👩‍⚕️ Cem');
      await openOption(page, 'passphrase');
      await page.fill('#passphrase', passphrase);
      await page.click('#create');
      const links = await linksOn(page);
      expect(await page.textContent('h1')).toBe(words('several.ready', { count: 3 }));
      expect(await page.textContent('#passphrase-value')).toBe(passphrase);
      expect(links.map(([name]) => name)).toEqual(['Ana', 'Ben <ben@example.org>', '👩‍⚕️ Cem']);
      const [ana = '', ben = '', cem = ''] = links.map(([, link = '']) => link);
      const swapped = ana.replace(/#.*/, new URL(ben).hash);
      expect(await openLink(site.app, swapped, passphrase)).toBeNull();
      for (const link of [ana, ben, cem])
        expect(await openLink(site.app, link, passphrase)).toEqual({ kind: 'text', text: value });
      expect(await openLink(site.app, ben, passphrase)).toBeNull();
      const all = sent.join('\n');
      expect(
        [value, passphrase, ...[ana, ben, cem].map((link) => new URL(link).hash.slice(1))].filter((each) =>
          all.includes(each),
        ),
      ).toEqual([]);
      expect(sent.filter((each) => /Ana|%40|@/.test(each.split(' ')[0] ?? ''))).toEqual([]);
      expect(page.url()).toMatch(/\/receipt\/several\/[0-9a-z]{31}(?:\.[0-9a-z]{31}){2}$/);
      expect(await keptBy(page)).toEqual(nothingKept);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'keeps the links over a reload until all are copied or saved, and asks before it loses them',
    { ...scripts, width: 320, height: 640 },
    async ({ site, page }) => {
      const asked: string[] = [];
      page.on('dialog', (dialog) => {
        asked.push(dialog.type());
        void dialog.accept();
      });
      const ways: Readonly<Record<string, () => Promise<unknown>>> = {
        'copied together': () => page.click('[data-copy="#all"]'),
        'copied one by one': async () => {
          await page.click('[data-copy="#link-0"]');
          await page.click('[data-copy="#link-1"]');
        },
        async saved() {
          const [download] = await Promise.all([page.waitForEvent('download'), page.click('#table')]);
          expect(download.suggestedFilename()).toBe('links.csv');
          expect(await readFile(await download.path(), 'utf8')).toMatch(/^\ufeff"[^\n]+\r\n"Ana","","http/);
        },
      };
      for (const [name, end] of Object.entries(ways)) {
        await type(page, site.baseUrl, 'Ana\nBen');
        await page.click('#create');
        const links = await linksOn(page);
        if (name === 'copied one by one') await page.click('[data-copy="#link-0"]');
        asked.length = 0;
        await page.reload();
        expect([name, asked, await linksOn(page)]).toEqual([name, ['beforeunload'], links]);
        asked.length = 0;
        await end();
        await page.reload();
        await page.waitForSelector('#links-gone');
        expect([name, asked, await page.inputValue('#all')]).toEqual([name, [], '']);
      }
    },
  );

  itInBrowser(
    'creates nothing twice when one fails: the rest stays in the form, and those before it can be shown',
    {
      ...scripts,
      app: {
        wrapStore(store) {
          let puts = 0;
          return {
            ...store,
            put: async (record) => {
              puts += 1;
              if (puts === 2) throw new ServiceError('unavailable', 'the store is away');
              return store.put(record);
            },
          };
        },
      },
    },
    async ({ site, visitor, page }) => {
      await type(page, site.baseUrl, 'Name\tE-mail\nAna\tana@example.org\nBen\tben@example.org\nCem');
      await page.click('#create');
      await page.waitForSelector('#refused');
      expect(await page.inputValue('#people')).toBe('Name\tE-mail\nBen\tben@example.org\nCem');
      expect(await page.textContent('#refused')).toContain(words('several.rest'));
      expect(await page.textContent('#so-far')).toBe(words('several.soFar', { count: 1, total: 3 }));
      expect([await page.inputValue('#secret'), await page.isVisible('#people')]).toEqual([value, true]);
      expect(await flawsInBothLights(page, 'several-rest')).toEqual([]);
      await page.click('#create');
      expect((await linksOn(page)).map(([name]) => name)).toEqual([
        'Ana <ana@example.org>',
        'Ben <ben@example.org>',
        'Cem',
      ]);
      expect(site.app.events.filter(({ event }) => event === 'concealed')).toHaveLength(3);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'shows the links so far, with their ends, if the rest is given up',
    scripts,
    async ({ site, page }) => {
      await abortSecondPost(page);
      await type(page, site.baseUrl, 'Ana\nBen');
      await page.click('#create');
      await page.waitForSelector('#unsent h2');
      expect(await page.textContent('#unsent')).toContain(words('share.noAnswerUnsure'));
      await page.click('#show-so-far');
      const [[name = '', link = ''] = []] = await linksOn(page);
      expect(name).toBe('Ana');
      expect(await openLink(site.app, link, null)).toEqual({ kind: 'text', text: value });
    },
  );

  itInBrowser(
    'shows each their own link, even if the encryption changes on the way, and after a reload',
    scripts,
    async ({ site, page }) => {
      await abortSecondPost(page);
      page.on('dialog', (dialog) => void dialog.accept());
      await type(page, site.baseUrl, 'Ana\nBen\nCem');
      await page.click('#create');
      await page.waitForSelector('#unsent h2');
      await page.click('#sealing > summary');
      await page.uncheck('#seal');
      await page.click('#create');
      const links = await linksOn(page);
      expect(links.map(([name, link = '']) => [name, link.includes('#')])).toEqual([
        ['Ana', true],
        ['Ben', false],
        ['Cem', false],
      ]);
      await page.reload();
      expect(await linksOn(page)).toEqual(links);
      expect(await openLink(site.app, links[0]?.[1] ?? '', null)).toEqual({ kind: 'text', text: value });
    },
  );

  itInBrowser(
    'mails each their link by the server, says so before, and needs only the keyboard',
    scripts,
    async ({ site, visitor, page }) => {
      const { cookie } = await signUpAs(site.app, 'robin@example.com');
      await carry(page, site.baseUrl, cookie);
      await page.goto(`${site.baseUrl}/`);
      await page.fill('#secret', value);
      await page.focus('#option-people > summary');
      await page.keyboard.press('Enter');
      await tabTo(page, 'people');
      await page.keyboard.type('Ana,ana@example.org\nBen,ben@example.org');
      expect(await page.textContent('#encryption')).toBe(words('share.encryptedHere'));
      await tabTo(page, 'mails-each');
      await page.keyboard.press('Space');
      expect(await page.textContent('#encryption')).toBe(words('share.encryptedEmailed'));
      await page.keyboard.press('Control+Enter');
      await page.waitForSelector('#links-gone');
      expect(await page.locator('h1:focus').count()).toBe(1);
      expect(await page.content()).not.toContain('/secret/');
      await site.app.service.settled();
      expect(site.app.mails.map(({ to }) => to.expose()).sort()).toEqual([
        'ana@example.org',
        'ben@example.org',
      ]);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );
});
