/**
 * The frame of every page, and its content security policy.
 *
 * Owns: head, header, footer. Invariant: a page loads nothing but the icon of its own site and runs no script; what
 * the policy admits is computed from what the page has (P19).
 */

import { raw } from 'hono/html';
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { Href } from './routes.ts';
import { styleHash, styleText } from './style.ts';
import type { Words } from './words.ts';

/** What every page needs: its language and the addresses it links to. */
export interface Frame {
  readonly words: Words;
  readonly href: Href;
}

export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src '${styleHash}'`,
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The mark: two wings that stand for a day. */
const markPath =
  'M12 20.5V9m0 2.5C9.8 5.8 6.4 3.6 2.6 3.5c.3 4.6 3.6 8 9.4 8Zm0 0c2.2-5.7 5.6-7.9 9.4-8-.3 4.6-3.6 8-9.4 8Zm0 5c-1.5-2.6-3.7-3.6-6.3-3.5.4 2.7 2.6 4.4 6.3 3.5Zm0 0c1.5-2.6 3.7-3.6 6.3-3.5-.4 2.7-2.6 4.4-6.3 3.5Z';

export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#2f8a73" stroke-width="1.8" stroke-linejoin="round" stroke-linecap="round"><path d="${markPath}"/></svg>`;

export const Page: FC<PropsWithChildren<{ frame: Frame; title: string }>> = ({ frame, title, children }) => {
  const { words, href } = frame;
  return (
    <html lang={words.locale}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex, nofollow, noarchive" />
        <title>{`${title} · Mayfly`}</title>
        <link rel="icon" href={href('icon')} type="image/svg+xml" />
        <style>{raw(styleText)}</style>
      </head>
      <body>
        <header>
          <a class="brand" href={href('home')}>
            <Mark />
            Mayfly
          </a>
        </header>
        <main>{children}</main>
        <footer>{words.say('frame.footer')}</footer>
      </body>
    </html>
  );
};

const Mark: FC = () => (
  <svg
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
    stroke-linejoin="round"
    stroke-linecap="round"
    aria-hidden="true"
  >
    <path d={markPath} />
  </svg>
);

/** The finished document. */
export function renderPage(page: ReturnType<FC>): string {
  return `<!doctype html>${String(page)}`;
}
