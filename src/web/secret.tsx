/**
 * The recipient's pages: a GET asks, a POST opens.
 *
 * Owns: the way from a link to a value, for people. Invariant: no GET or HEAD consumes or counts a guess (P4); unknown,
 * opened, burned and expired are one answer (P17).
 */
import { anonymous } from '../domain/accounts.ts';
import type { SecretService, SecretView } from '../domain/outcomes.ts';
import { Sensitive } from '../domain/sensitive.ts';
import type { Clock } from '../domain/time.ts';
import type { MessageKey } from '../locale/catalogues.ts';
import { renderPage } from './layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from './page-route.ts';
import { ExhaustedPage, GonePage, RevealedPage, SecretPage } from './pages/secret.tsx';

export interface SecretDeps {
  readonly service: Pick<SecretService, 'secretStatus' | 'reveal'>;
  readonly clock: Clock;
}

export function createSecretPages(deps: SecretDeps): PageRoute[] {
  return [
    {
      name: 'secret',
      get: { limit: 'manage', handle: (request) => ask(request, deps, 200, null) },
      post: { limit: 'manage', handle: (request) => open(request, deps) },
    },
  ];
}

/** The page that asks, or the honest one when nothing waits (any more). */
async function ask(
  request: PageRequest,
  deps: SecretDeps,
  status: number,
  wrong: MessageKey | null,
): Promise<PageReply> {
  const found = await deps.service.secretStatus({ secretKey: request.key }, anonymous);
  if (found.outcome === 'unknown') return gone(request);
  return pageReply(status, renderAsk(request, found.secret, wrong));
}

function renderAsk({ frame }: PageRequest, secret: SecretView, wrong: MessageKey | null): string {
  const message = wrong === null ? null : frame.words.say(wrong);
  return renderPage(<SecretPage frame={frame} secret={secret} wrong={message} />);
}

async function open(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix } = request;
  const passphrase = new Sensitive((await request.form()).text('passphrase'));
  const outcome = await deps.service.reveal({ secretKey: key, passphrase, clientPrefix }, anonymous);
  switch (outcome.outcome) {
    case 'revealed':
      return pageReply(200, renderPage(<RevealedPage frame={frame} value={outcome.value.expose()} />));
    case 'unknown':
      return gone(request);
    case 'passphrase_missing':
      return ask(request, deps, 422, 'secret.passphraseMissing');
    case 'passphrase_wrong':
      return ask(request, deps, 422, 'secret.passphraseWrong');
    case 'attempts_exhausted':
      return exhausted(request, outcome.retryAfterSeconds, deps.clock);
  }
}

function gone({ frame }: PageRequest): PageReply {
  return pageReply(404, renderPage(<GonePage frame={frame} />));
}

function exhausted({ frame }: PageRequest, retryAfterSeconds: number, clock: Clock): PageReply {
  const nextTryAt = clock() + retryAfterSeconds;
  const page = <ExhaustedPage frame={frame} retryAfterSeconds={retryAfterSeconds} nextTryAt={nextTryAt} />;
  return pageReply(429, renderPage(page), { 'retry-after': String(retryAfterSeconds) });
}
