/**
 * The pages around the service: how it works, what it promises, whether it works just now.
 *
 * Owns: their handlers. Invariant: they need no session and change nothing; the status tells the truth of this moment, and
 * a store that cannot even be asked does not answer.
 */
import type { Clock } from '../domain/time.ts';
import { renderPage } from './layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from './page-route.ts';
import { AboutPage } from './pages/about.tsx';
import { SecurityPage } from './pages/security.tsx';
import { StatusPage } from './pages/status.tsx';

export interface AboutDeps {
  readonly clock: Clock;
  readonly version: string;
  readonly isReady: () => boolean | Promise<boolean>;
}

export function createAboutPages(deps: AboutDeps): PageRoute[] {
  return [
    { name: 'about', needsNoSession: true, get: { limit: 'none', isStill: true, handle: showAbout } },
    { name: 'security', needsNoSession: true, get: { limit: 'none', isStill: true, handle: showSecurity } },
    {
      name: 'status',
      needsNoSession: true,
      get: { limit: 'none', handle: (request) => showStatus(request, deps) },
    },
  ];
}

function showAbout({ frame }: PageRequest): PageReply {
  return pageReply(200, renderPage(<AboutPage frame={frame} />));
}

function showSecurity({ frame }: PageRequest): PageReply {
  return pageReply(200, renderPage(<SecurityPage frame={frame} />));
}

async function showStatus(
  { frame }: PageRequest,
  { clock, version, isReady }: AboutDeps,
): Promise<PageReply> {
  const works = await answers(isReady);
  const page = <StatusPage frame={frame} isReady={works} version={version} checkedAt={clock()} />;
  return pageReply(works ? 200 : 503, renderPage(page));
}

async function answers(isReady: AboutDeps['isReady']): Promise<boolean> {
  try {
    return await isReady();
  } catch {
    return false;
  }
}
