/**
 * The recipient's pages: a GET asks, a POST opens. No GET or HEAD consumes the secret or counts a guess (P4), and neither does a form
 * without a person's tick or press. Unknown, opened, burned and expired secrets get one response (P17); every refusal leads back to the
 * link. The opener may reload for a minute (`look-cookie.ts`).
 */
import { nonceIn } from '../../core/secrets/look.ts';
import { textOf } from '../../core/secrets/reveal.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { fromBase64Url, sixteenBytesForm } from '../../protocol/base64url.ts';
import {
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../kit/page.ts';
import { type AskRefusal, codeIn, notRefused } from './code-field.tsx';
import { drawLook, lookFieldName, lookOf } from './look-cookie.ts';
import { createBurnPages } from './recipient-burn.tsx';
import { RevealedPage } from './revealed-page.tsx';
import { createSealedPages, opening } from './sealed.tsx';
import { SealedPage } from './sealed-page.tsx';
import { DonePage, openBox, SecretPage, type WaitingSecret } from './secret-page.tsx';
import { type AskAgain, goneReply, keepAsking, refusedReply, type SecretDeps } from './secret-refusals.tsx';

export function createSecretPages(deps: SecretDeps): PageRoute[] {
  const refuse = (request: PageRequest, problem: PageProblem) =>
    keepAsking(request, problem, (...refusal) => ask(request, deps, ...refusal));
  return [
    {
      name: 'secret',
      get: { limit: 'manage', handle: (request) => ask(request, deps, 200), refuse },
      post: { limit: 'manage', handle: (request) => open(request, deps), refuse },
    },
    {
      name: 'secretCode',
      get: { limit: 'none', handle: ({ frame, key }) => seeOther(frame.href('secret', key)) },
      post: { limit: 'manage', handle: (request) => mailCode(request, deps), refuse },
    },
    {
      name: 'secretDone',
      get: { limit: 'none', handle: ({ frame }) => pageReply(200, <DonePage frame={frame} />) },
      post: { limit: 'manage', handle: (request) => finish(request, deps) },
    },
    ...createSealedPages(deps),
    ...createBurnPages(deps),
  ];
}

/** Marks the reader as the owner if their account owns the secret or a cookie shows that this browser created it. */
function asSeenHere(
  waiting: WaitingSecret,
  { cookies, frame, key }: PageRequest,
  { here }: SecretDeps,
): WaitingSecret {
  const { secret } = waiting;
  const isOwner = secret.isOwner || here.isMadeHere(cookies, frame.href('secret', key));
  return { ...waiting, secret: { ...secret, isOwner } };
}

async function ask(
  request: PageRequest,
  deps: SecretDeps,
  status: number,
  refusal: Partial<AskRefusal> = {},
): Promise<PageReply> {
  const found = await deps.service.arrival({ secretKey: request.key }, request.caller);
  if (found.outcome === 'unknown') return goneReply(request, deps);
  const waiting = asSeenHere(found, request, deps);
  const { frame, cookies } = request;
  const { note } = found;
  const { sealed, verify } = waiting.secret;
  const isAsked = verify && !request.query.has('again');
  const code = isAsked ? deps.here.codeSentHere(cookies, frame.href('secret', request.key)) : null;
  const needsCode = verify && code === null;
  if (sealed && !needsCode)
    return opening(pageReply(status, <SealedPage {...{ frame, waiting, note, code }} />));
  const look = code === null && deps.keepsCookies(request.host) ? drawLook(cookies) : null;
  const lookField = code?.field ?? look?.field ?? null;
  const notice = needsCode && lookField === null ? { notice: frame.say('secret.codeNeedsHttps') } : {};
  const said = { ...notRefused, ...refusal, ...notice };
  const props = { frame, waiting, note, code, lookField, refusal: said };
  const reply = pageReply(status, <SecretPage {...props} />);
  return look === null ? reply : { ...reply, cookies: [look.cookie] };
}

async function open(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix, isAbandoned, caller } = request;
  const form = await request.form();
  if (form.text(openBox.name) !== openBox.value)
    return ask(request, deps, 422, { box: frame.messages.say('secret.sureMissing') });
  const passphrase = new Sensitive(form.text('passphrase'));
  const field = form.text(lookFieldName);
  const [look, code] = [lookOf(request.cookies, field), codeIn(form)];
  const input = { secretKey: key, passphrase, proofs: null, look, code, clientPrefix, isAbandoned };
  const outcome = await deps.service.reveal(input, caller);
  if (outcome.outcome !== 'revealed')
    return refusedReply(request, deps, outcome, (...refusal) => ask(request, deps, ...refusal));
  const isRepeated = deps.here.endedHere(request.cookies) !== null;
  const ending = look === null ? null : { secretKey: key, field, isRepeated };
  const page = <RevealedPage frame={frame} value={textOf(outcome.content)} ending={ending} />;
  const opened = deps.here.ended(frame.href('secret', key), { what: 'opened', at: deps.clock() });
  return { ...pageReply(200, page), cookies: [opened] };
}

/** The nonce that the code is good for comes from the browser's cookie and the form's field, which a second cookie keeps for later views. */
async function mailCode(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key: secretKey, cookies, clientPrefix } = request;
  const { locale, say, wait } = frame.messages;
  const form = await request.form();
  const again: AskAgain = (...refusal) => ask(request, deps, ...refusal);
  if (form.text(openBox.name) !== openBox.value) return again(422, { box: say('secret.codeSureMissing') });
  const field = form.text(lookFieldName);
  const look = lookOf(cookies, field);
  if (look === null) return again(422, { notice: say('secret.codeNeedsHttps') });
  const proof = form.text('link-proof');
  const linkProof = proof === '' ? null : fromBase64Url(proof);
  const mailed = await deps.service.mailCode({ secretKey, look, linkProof, clientPrefix, locale });
  if (mailed.outcome === 'queued') {
    const path = frame.href('secret', secretKey);
    return seeOther(path, [drawLook(cookies).cookie, deps.here.codeSent(path, { field, to: mailed.sentTo })]);
  }
  if (mailed.outcome === 'needs_no_code') return again(422);
  if (mailed.outcome !== 'too_many_mails') return refusedReply(request, deps, mailed, again);
  return again(429, { notice: say('secret.codesUsedUp', { wait: wait(mailed.retryAfterSeconds) }) });
}

/**
 * A form sends the field of its nonce, and a script that drew a nonce the nonce itself. Does not reveal whether there was a
 * second look to end (P17).
 */
async function finish(request: PageRequest, { service }: SecretDeps): Promise<PageReply> {
  const sent = (await request.form()).text(lookFieldName);
  const drawn = sixteenBytesForm.test(sent) ? nonceIn(sent) : null;
  for (const look of [lookOf(request.cookies, sent), drawn])
    if (look !== null) await service.finishLook({ secretKey: request.key, look });
  return seeOther(request.frame.href('secretDone', request.key));
}
