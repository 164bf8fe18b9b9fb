/**
 * Opens an end-to-end secret: the page's script proves that it knows the link and passphrase, which the server never has, and receives the
 * ciphertext or a message to show. Plain secrets are refused here, so no secret can be downgraded.
 */
import { type Proofs, proofBytes } from '../../core/secrets/end-to-end.ts';
import { nonceIn } from '../../core/secrets/look.ts';
import type { SecretRefusal } from '../../core/secrets/outcomes.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { fromBase64Url, sixteenBytesForm, toBase64Url } from '../../protocol/base64url.ts';
import { problemTexts } from '../kit/error-page.tsx';
import type { Form } from '../kit/form.ts';
import type { Messages } from '../kit/language.ts';
import {
  jsonReply,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
} from '../kit/page.ts';
import { codeIn } from './code-field.tsx';
import { lookFieldName, lookOf } from './look-cookie.ts';
import { AgainPage } from './sealed-page.tsx';
import { exhaustedText, laterOf, type SecretDeps, wrongText } from './secret-refusals.tsx';

export interface SealedRefusal {
  readonly say: string;
  readonly at: 'passphrase' | 'code' | 'page' | 'gone';
  readonly formToken?: string;
}

export function createSealedPages(deps: SecretDeps): PageRoute[] {
  return [
    {
      name: 'secretOpen',
      post: { limit: 'manage', handle: (request) => openSealed(request, deps), refuse: refuseScript },
    },
    {
      name: 'secretNote',
      post: { limit: 'manage', handle: (request) => sendNote(request, deps), refuse: refuseScript },
    },
    {
      name: 'secretAgain',
      get: {
        limit: 'none',
        handle: ({ frame, key }) => opening(pageReply(200, <AgainPage frame={frame} secretKey={key} />)),
      },
    },
  ];
}

/** Allows the script to stretch a passphrase, and to show a picture that it decrypted. */
export function opening(reply: PageReply): PageReply {
  return { ...reply, usesWorker: true, showsPictures: true };
}

export function proofsIn(form: Form): Proofs | null {
  const linkProof = fromBase64Url(form.text('link-proof'));
  const proof = fromBase64Url(form.text('proof'));
  return linkProof?.length === proofBytes && proof?.length === proofBytes ? { linkProof, proof } : null;
}

async function openSealed(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix, isAbandoned, caller } = request;
  const form = await request.form();
  const [proofs, nonce] = [proofsIn(form), form.text(lookFieldName)];
  if (proofs === null || !sixteenBytesForm.test(nonce))
    return refusedAsText(frame.messages, { outcome: 'incomplete_link' });
  // The script sends the field of the nonce that a code was mailed for, or a nonce that it drew.
  const isField = deps.here.codeSentHere(request.cookies, frame.href('secret', key))?.field === nonce;
  const [look, code] = [isField ? lookOf(request.cookies, nonce) : nonceIn(nonce), codeIn(form)];
  const input = { secretKey: key, passphrase: null, proofs, look, code, clientPrefix, isAbandoned };
  const outcome = await deps.service.reveal(input, caller);
  if (outcome.outcome !== 'revealed') return refusedAsText(frame.messages, outcome);
  if (outcome.content.kind !== 'sealed') throw new Error('proofs released a value');
  const ciphertext = toBase64Url(outcome.content.ciphertext);
  const opened = deps.here.ended(frame.href('secret', key), { what: 'opened', at: deps.clock() });
  return { ...jsonReply(200, { v: 1, ciphertext }), cookies: [opened] };
}

/** Gives nothing without the link's proof. */
async function sendNote(request: PageRequest, { service }: SecretDeps): Promise<PageReply> {
  const linkProof = fromBase64Url((await request.form()).text('link-proof')) ?? new Uint8Array(0);
  const found = await service.readNote({ secretKey: request.key, linkProof });
  return jsonReply(200, { note: found.outcome === 'found' ? (found.note?.expose() ?? null) : null });
}

export function refusedAsText(
  messages: Messages,
  refusal: SecretRefusal | { readonly outcome: 'abandoned' },
): PageReply {
  const { say } = messages;
  switch (refusal.outcome) {
    case 'abandoned':
      throw new RequestProblem(clientLeft);
    case 'unknown':
      return refused(404, { at: 'gone', say: say('gone.title') });
    case 'not_sealed':
      return refused(422, { at: 'page', say: say('secret.notSealed') });
    case 'passphrase_missing':
    case 'incomplete_link':
      return refused(422, { at: 'page', say: say('secret.incompleteLink') });
    case 'passphrase_wrong':
      return refused(422, { at: 'passphrase', say: wrongText(messages, refusal) });
    case 'code_required':
      return refused(422, { at: 'code', say: say('secret.codeMissing') });
    case 'code_wrong':
      return refused(422, { at: 'code', say: wrongText(messages, refusal) });
    case 'codes_exhausted':
    case 'attempts_exhausted': {
      const { outcome, retryAfterSeconds, needsCreator } = refusal;
      const isAdvised = !needsCreator && outcome === 'attempts_exhausted';
      const advice = isAdvised ? ` ${say('secret.exhaustedAdvice')}` : '';
      const text = exhaustedText(messages, refusal) + advice;
      return refused(429, { at: 'page', say: text }, { 'retry-after': String(retryAfterSeconds) });
    }
  }
}

/** Reports a refusal made outside the handler, so nothing was opened or counted. */
export async function refuseScript({ frame }: PageRequest, problem: PageProblem): Promise<PageReply> {
  const { status } = problemTexts(problem, frame.messages);
  if (problem.problem === 'stale_form')
    return refused(status, {
      at: 'page',
      say: frame.say('secret.stale'),
      formToken: frame.formToken,
    });
  return refused(status, { at: 'page', say: laterOf(frame.messages, problem).lead });
}

function refused(status: number, refusal: SealedRefusal, headers: PageReply['headers'] = {}): PageReply {
  return { ...jsonReply(status, refusal), headers };
}
