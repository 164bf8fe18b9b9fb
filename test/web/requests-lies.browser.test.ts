/** Requests for a secret in a browser, from a server that lies, or by a link that leads to none. */
import { describe, expect } from 'bun:test';
import type { Route } from 'playwright-core';
import { openAsker } from '../../sdk/request.ts';
import { answerOn, askOn, endOf, linksOn, opened, openLink, value, withStranger } from './asked.ts';
import { withBrowser } from './in-browser.ts';
import { words } from './words.ts';

const { browser, itInBrowser } = withBrowser();

interface Said {
  readonly record: Record<string, unknown>;
  readonly records: Record<string, unknown>[];
}

/** Answers in the place of the server, given what it says. */
const lie = (change: (said: Said) => void) => async (route: Route) => {
  const response = await route.fetch();
  const said = await response.json();
  change(said);
  await route.fulfill({ response, json: said });
};

describe('a server that lies', () => {
  itInBrowser(
    'shows no other question: there is nothing to type into, and nothing is sent',
    { scripts: true },
    async (scene) => {
      const { site, page: asker } = scene;
      await withStranger(browser(), scene, async ({ page }, { askLink, answersLink }) => {
        const other = await askOn(asker, site, 'another question');
        const otherTerms: string = await asker.evaluate(
          async ([path, owner]) => {
            const body = JSON.stringify({ owner });
            const headers = { 'content-type': 'application/json' };
            return (
              await (await fetch(`/api/v2/request/${path}/answers`, { method: 'POST', body, headers })).json()
            ).record.terms;
          },
          [other.key, (await openAsker(endOf(other.answersLink))).ownerProof] as const,
        );
        const requests: string[] = [];
        page.on('request', (request) =>
          requests.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''),
        );
        for (const terms of [otherTerms, 'AAAA', '']) {
          await page.unrouteAll();
          await page.route(
            '**/look',
            lie((said) => Object.assign(said.record, { terms })),
          );
          await openLink(page, askLink);
          await page.waitForSelector('#notice:not([hidden])');
          expect([await page.innerText('#notice'), await page.locator('#secret, #prompt').count()]).toEqual([
            words('answer.changed'),
            0,
          ]);
        }
        expect(requests.filter((each) => each === 'answer')).toEqual([]);
        await asker.click('#keep [data-copy]');
        await asker.route(
          '**/answers',
          lie((said) => Object.assign(said.record, { terms: otherTerms })),
        );
        await openLink(asker, answersLink);
        await asker.waitForSelector('#notice:not([hidden])');
        expect([await asker.innerText('#notice'), await asker.innerText('#prompt')]).toEqual([
          words('answers.changed'),
          '',
        ]);
      });
    },
  );

  itInBrowser(
    'opens no answer that was mixed with another or with another request, and consumes nothing',
    { scripts: true },
    async (scene) => {
      const { page } = scene;
      await withStranger(
        browser(),
        scene,
        async (stranger, { askLink, answersLink }) => {
          await answerOn(stranger.page, askLink, value);
          await answerOn(stranger.page, askLink, 'another');
          const mixtures: readonly ((records: Record<string, unknown>[]) => void)[] = [
            ([one, other]) => Object.assign(one ?? {}, { wrapped: other?.wrapped }),
            ([one, other]) => Object.assign(one ?? {}, { link_hash: other?.link_hash }),
            ([one]) => Object.assign(one ?? {}, { wrapped: 'A'.repeat(86) }),
            ([one]) => Object.assign(one ?? {}, { wrapped: '' }),
          ];
          for (const mix of mixtures) {
            await page.unrouteAll();
            await page.route(
              '**/answers',
              lie((said) => mix(said.records)),
            );
            await page.click('#keep [data-copy]');
            await openLink(page, answersLink);
            await linksOn(page);
            expect(await page.locator(opened).count()).toBeLessThanOrEqual(1);
            const first = await page.innerText('#list > li:first-child');
            expect(first).toContain(words('answers.unreadable'));
          }
          await page.unrouteAll();
          await openLink(page, answersLink);
          await page.waitForFunction(() => document.querySelectorAll('#list a:not([hidden])').length === 2);
        },
        '2',
      );
    },
  );

  itInBrowser(
    'cannot show a request under a share domain that is not its own: the page goes to the site',
    { scripts: true },
    async (scene) => {
      await withStranger(browser(), scene, async ({ page }, { askLink, key }) => {
        const brand = async (route: Route) => {
          const response = await route.fetch();
          const html = (await response.text()).replace(
            ' data-base=',
            ' data-domain="links.example.com" data-base=',
          );
          await route.fulfill({ response, body: html });
        };
        const elsewhere = askLink.replace('localhost', '127.0.0.1');
        await page.route(`**/127.0.0.1:*/ask/${key}`, brand);
        await page.goto(elsewhere);
        await page.waitForURL(askLink);
        await page.waitForSelector('#secret');
        expect(new URL(page.url()).hostname).toBe('localhost');
      });
    },
  );
});

describe('a link that does not lead to a request', () => {
  itInBrowser(
    'says so: cut, of another request, unknown, or in an old browser',
    { scripts: true },
    async (scene) => {
      const { site } = scene;
      await withStranger(browser(), scene, async (stranger, { askLink, answersLink, key }) => {
        const { page } = stranger;
        const wrongEnd = 'A'.repeat(43);
        const cases: readonly (readonly [link: string, title: string])[] = [
          [askLink.slice(0, -1), words('sealed.incompleteTitle')],
          [askLink.split('#')[0] ?? '', words('sealed.incompleteTitle')],
          [`${askLink.split('#')[0]}#${wrongEnd}`, words('sealed.incompleteTitle')],
          [askLink.replace(key, '0'.repeat(31)), words('gone.title')],
          [answersLink.slice(0, -1), words('sealed.incompleteTitle')],
          [answersLink.split('#')[0] ?? '', words('sealed.incompleteTitle')],
          [answersLink.replace(key, '0'.repeat(31)), words('answers.unknownTitle')],
          [`${answersLink.split('#')[0]}#${'A'.repeat(22)}`, words('answers.unknownTitle')],
        ];
        for (const [link, title] of cases) {
          await openLink(page, link);
          await page.waitForSelector('main .day:visible');
          expect([link, await page.innerText('main h1')]).toEqual([link, title]);
        }
        await page.context().addInitScript(() => {
          const generateKey = () => Promise.reject(new DOMException('', 'NotSupportedError'));
          Object.assign(crypto.subtle, { generateKey });
        });
        for (const link of [askLink, answersLink]) {
          await openLink(page, link);
          await page.waitForSelector('#notice:not([hidden])');
          expect([await page.innerText('#notice'), await page.locator('#secret').count()]).toEqual([
            words('ask.cannot'),
            0,
          ]);
        }
        expect(site.app.faults).toEqual([]);
      });
    },
  );
});
