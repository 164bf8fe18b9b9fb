/** Tests in a real browser: each scenario gets its own site and visitor. */
import { afterAll, beforeAll, it } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import type { TestAppOptions } from '../support/app.ts';
import {
  launchBrowser,
  openSite,
  openVisitor,
  type Site,
  type Visitor,
  type VisitorOptions,
} from './browser.ts';

/** For a machine that is busy with other tests. */
export const patienceMs = 120_000;

export interface Scene {
  readonly site: Site;
  readonly visitor: Visitor;
  readonly page: Page;
}

export interface SceneOptions extends VisitorOptions {
  /** The options of the site. */
  readonly app?: TestAppOptions;
  readonly limitMs?: number;
}

/**
 * Launches a browser for the tests of the file that calls it.
 * @param usual the options of every site, but for those that a scene names
 */
export function withBrowser(usual: TestAppOptions = {}) {
  let launched: Browser | null = null;
  beforeAll(async () => {
    launched = await launchBrowser();
  }, patienceMs);
  afterAll(() => launched?.close());

  const browser = (): Browser => {
    if (launched === null) throw new Error('the browser is launched before the first test, and only there');
    return launched;
  };

  function itInBrowser(name: string, options: SceneOptions, scenario: (scene: Scene) => Promise<void>): void {
    const { app = {}, limitMs = patienceMs, ...ofVisitor } = options;
    const run = async () => {
      using site = openSite({ ...usual, ...app });
      await using visitor = await openVisitor(browser(), site, ofVisitor);
      await scenario({ site, visitor, page: visitor.page });
    };
    it(name, run, limitMs);
  }

  return { browser, itInBrowser };
}
