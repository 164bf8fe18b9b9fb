/**
 * Opening an end-to-end secret: the page's script asks, and gets the ciphertext or words to show as JSON. It sends proofs of the link
 * and the passphrase, neither of which the server ever has; a plain secret is refused here, so nothing is ever downgraded.
 */

import { lookForm, nonceIn } from '../../core/secrets/look.ts';
import type { RevealOutcome } from '../../core/secrets/outcomes.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { problemWords } from '../kit/error-page.tsx';
import { renderPage } from '../kit/layout.tsx';
import {
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
} from '../kit/page.ts';
import { AgainPage } from './sealed-page.tsx';
import { laterOf, type SecretDeps, wrongPassphraseText } from './secret-refusals.ts';

/** What the script reads of a refusal. */
export interface SealedRefusal {
  readonly say: string;
  readonly at: 'passphrase' | 'page' | 'gone';
  /** Of the session that is logged in now, where that has changed. */
  readonly formToken?: string;
}

export function createSealedPages(deps: SecretDeps): PageRoute[] {
  return [
    {
      name: 'secretOpen',
      post: { limit: 'manage', handle: (request) => openSealed(request, deps), refuse },
    },
    {
      name: 'secretAgain',
      get: {
        limit: 'none',
        handle: ({ frame, key }) =>
          opening(pageReply(200, renderPage(<AgainPage frame={frame} secretKey={key} />))),
      },
    },
  ];
}

/** A page whose script may stretch a passphrase and show a picture that it decrypted. */
export function opening(reply: PageReply): PageReply {
  return { ...reply, usesWorker: true, showsPictures: true };
}

const proofForm = /^[A-Za-z0-9_-]{43}$/;

async function openSealed(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix, isAbandoned, caller } = request;
  const form = await request.form();
  const [linkProof, proof, nonce] = [form.text('link-proof'), form.text('proof'), form.text('look')];
  const isWhole = proofForm.test(linkProof) && proofForm.test(proof) && lookForm.test(nonce);
  if (!isWhole) return refused(422, { at: 'page', say: frame.words.say('secret.incompleteLink') });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  const proofs = { linkProof: bytes(linkProof), proof: bytes(proof) };
  const input = { secretKey: key, passphrase: null, proofs, look: nonceIn(nonce), clientPrefix, isAbandoned };
  return answer(request, await deps.service.reveal(input, caller));
}

function answer({ frame: { words } }: PageRequest, outcome: RevealOutcome): PageReply {
  const { say } = words;
  switch (outcome.outcome) {
    case 'revealed': {
      if (outcome.content.kind !== 'sealed') throw new Error('proofs released a value');
      const ciphertext = Buffer.from(outcome.content.ciphertext).toString('base64url');
      return json(200, { v: 1, ciphertext });
    }
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
      return refused(422, { at: 'passphrase', say: wrongPassphraseText(words, outcome) });
    case 'attempts_exhausted': {
      const { retryAfterSeconds } = outcome;
      const left = words.duration(retryAfterSeconds);
      const text = `${say('secret.exhausted', { left })} ${say('secret.exhaustedAdvice')}`;
      return refused(429, { at: 'page', say: text }, { 'retry-after': String(retryAfterSeconds) });
    }
  }
}

/** What was refused around the handler: nothing was opened and nothing counted. */
async function refuse({ frame }: PageRequest, problem: PageProblem): Promise<PageReply> {
  const { status } = problemWords(problem, frame.words);
  if (problem.problem === 'stale_form')
    return refused(status, { at: 'page', say: frame.words.say('secret.stale'), formToken: frame.formToken });
  return refused(status, { at: 'page', say: laterOf(frame.words, problem).lead });
}

function refused(status: number, refusal: SealedRefusal, headers: PageReply['headers'] = {}): PageReply {
  return { ...json(status, refusal), headers };
}

function json(status: number, value: unknown): PageReply {
  return { status, content: { kind: 'json', value } };
}
