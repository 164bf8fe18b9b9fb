/** The part of the tour that walks through an account's list: its states, one secret again, and several at a time. */
import type { Page } from 'playwright-core';
import type { Caller } from '../../src/core/account.ts';
import { clientStays } from '../stores/conformance/check.ts';
import type { Site } from './browser.ts';
import { goOn } from './creator.ts';
import { makeWaiting } from './waiting.ts';

type Look = (name: string) => Promise<void>;

const open = (page: Page, site: Site, path: string) => page.goto(site.baseUrl + path);
const press = (page: Page, selector: string) => goOn(page, () => page.click(selector));

/** A secret in every state, for the list. */
async function fillList({ app }: Site, caller: Caller): Promise<void> {
  await makeWaiting(app, { caller, ttlSeconds: 60 });
  app.clock.advance(61);
  const burned = await makeWaiting(app, { caller });
  await app.service.burn(
    { proof: null, metadataKey: burned.metadataKey, authority: 'owner', isAbandoned: clientStays },
    caller,
  );
  const { secretKey } = await makeWaiting(app, { caller });
  await app.service.reveal(
    { passphrase: null, proofs: null, secretKey, clientPrefix: '192.0.2.0/24', isAbandoned: clientStays },
    caller,
  );
  await makeWaiting(app, { caller, passphrase: 'p' });
}

/** What can be done with several secrets of the list, and with one of them again. */
async function walkSelected(page: Page, site: Site, look: Look): Promise<void> {
  await press(page, '.more[open] button[form="again"]');
  await look('share-same-again');
  await open(page, site, '/recent');
  await page.check('#picking');
  await page.check('.pick > input >> nth=0');
  await look('recent-selecting');
  await press(page, '.selected-bar [value="burn"]');
  await look('recent-burn-selected');
  // Burned from elsewhere between the question and the answer.
  const listed = await page.locator('.item-link').first().getAttribute('href');
  await site.app.service.burn(
    {
      ...{ proof: null, authority: 'holder', isAbandoned: clientStays },
      metadataKey: listed?.split('/').at(-1) ?? '',
    },
    { kind: 'anonymous' },
  );
  await press(page, 'main button.alarm');
  await look('recent-undone');
  await open(page, site, '/recent?at=1');
  await look('recent-of-a-notice-gone');
  await open(page, site, '/recent');
}

export async function walkList(page: Page, site: Site, caller: Caller, look: Look): Promise<void> {
  await fillList(site, caller);
  await open(page, site, '/recent');
  await look('recent-of-all-kinds');
  await page.click('.more > summary');
  await look('recent-menu');
  await walkSelected(page, site, look);
  await open(page, site, '/recent?state=burned');
  await look('recent-burned');
}
