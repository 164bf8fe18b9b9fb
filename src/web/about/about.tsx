/**
 * The pages around the service: how it works, what it promises, which region it is, whether it works just now.
 *
 * Owns: their handlers. Invariant: they need no session and change nothing; the status tells the truth of this moment, and
 * a store that cannot even be asked does not answer.
 */
import type { Regions } from '../../core/regions.ts';
import type { Clock } from '../../core/time.ts';
import { RequestProblem } from '../../http/problem.ts';
import { renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from '../page.ts';
import { AboutPage } from './about-page.tsx';
import { RegionsPage } from './regions-page.tsx';
import { SecurityPage } from './security-page.tsx';
import { StatusPage } from './status-page.tsx';

export interface AboutDeps {
  readonly clock: Clock;
  readonly version: string;
  readonly isReady: () => boolean | Promise<boolean>;
  readonly regions: Regions | null;
}

export function createAboutPages(deps: AboutDeps): PageRoute[] {
  return [
    { name: 'about', needsNoSession: true, get: { limit: 'none', isStatic: true, handle: showAbout } },
    { name: 'security', needsNoSession: true, get: { limit: 'none', isStatic: true, handle: showSecurity } },
    {
      name: 'regions',
      needsNoSession: true,
      get: { limit: 'none', isStatic: true, handle: (request) => showRegions(request, deps) },
    },
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

function showRegions({ frame }: PageRequest, { regions }: AboutDeps): PageReply {
  if (regions === null) throw new RequestProblem({ problem: 'not_found' });
  return pageReply(200, renderPage(<RegionsPage frame={frame} regions={regions} />));
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
