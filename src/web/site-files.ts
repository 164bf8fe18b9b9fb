/**
 * What browsers and crawlers ask for by themselves: the icon and the rules for robots.
 *
 * Owns: `/icon.svg`, `/favicon.ico`, `/robots.txt`. Invariant: no robot is invited to an address that holds a key.
 */
import { iconSvg } from './layout.tsx';
import type { PageAction, PageReply, PageRoute } from './page-route.ts';

const closedToRobots = ['/secret/', '/receipt/', '/private/', '/api/'];

export function createSiteFiles(basePath: string): PageRoute[] {
  const robots = ['User-agent: *', ...closedToRobots.map((path) => `Disallow: ${basePath}${path}`), ''].join(
    '\n',
  );
  return [
    { name: 'icon', get: constant({ kind: 'text', text: iconSvg, type: 'image/svg+xml; charset=utf-8' }) },
    { name: 'robots', get: constant({ kind: 'text', text: robots, type: 'text/plain; charset=utf-8' }) },
    { name: 'favicon', get: constant({ kind: 'none' }) },
  ];
}

function constant(content: PageReply['content']): PageAction {
  const status = content.kind === 'none' ? 204 : 200;
  return { limit: 'none', handle: () => ({ status, content }) };
}
