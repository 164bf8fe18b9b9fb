/**
 * Codes: six digits that go to the mailbox which the creator named, so that link and mailbox are both needed. The order is proof of the link →
 * code → passphrase or proof → claim: who lacks the mailbox can neither guess the passphrase nor use up its tries.
 *
 * A code is bound to its opener's nonce, and a wrong one is counted before it is compared (P14). Nothing marks a code as used: the claim ends
 * what it opens, and a claim that failed can be tried again. Code and address are in no store, event or error (P9, P18).
 */
import { equalInConstantTime } from '../../crypto/bytes.ts';
import { deriveCodeTag, deriveLookTag } from '../../crypto/derive.ts';
import { openCodeAddress } from '../../crypto/envelope.ts';
import { randomText } from '../../crypto/random.ts';
import { allDigits } from '../../protocol/drawing.ts';
import type { Account } from '../account.ts';
import { senderNameOf } from '../accounts/sender-name.ts';
import { obfuscate } from '../mail/recipients.ts';
import { countedId } from '../ports/attempts.ts';
import { type CodeStore, codeSeconds } from '../ports/codes.ts';
import type { Core } from '../ports/core.ts';
import { Sensitive } from '../sensitive.ts';
import {
  type AccessCore,
  checkLink,
  countGuess,
  damaged,
  findLive,
  type LiveSecret,
  type ProvenSecret,
  proveLive,
  reserveFor,
} from './access.ts';
import { codeMailLimits } from './attempts.ts';
import type { CodeInput, CodeOutcome, OpenInput, SecretRefusal, TooManyMails } from './outcomes.ts';

export type OpenCore = AccessCore & { readonly store: Pick<CodeStore, 'findCode'> };

const codeLength = 6;

/** Works like `proveAccess`, and also takes the code, if the secret asks for one. */
export async function proveOpening(deps: OpenCore, input: OpenInput): Promise<ProvenSecret | SecretRefusal> {
  const live = await findLive(deps, input.secretKey);
  if (live === null) return { outcome: 'unknown' };
  const refusal = live.stored.verify
    ? (checkLink(deps, live, input.proofs?.linkProof ?? null) ?? (await checkCode(deps, live, input)))
    : null;
  return refusal ?? proveLive(deps, live, input);
}

/** Returns `null` if the code is right. */
async function checkCode(
  deps: OpenCore,
  live: LiveSecret,
  { look = null, code = null, clientPrefix }: OpenInput,
): Promise<SecretRefusal | null> {
  const { secretKey, stored } = live;
  if (look === null || code === null) return { outcome: 'code_required' };
  const expected = await deps.store.findCode(stored.secretId, deriveLookTag(look, stored.secretId));
  // There is nothing to guess.
  if (expected === null) return { outcome: 'code_required' };
  const tag = deriveCodeTag(secretKey, look, code);
  const compare = async () => (equalInConstantTime(tag, expected) ? 'right' : null);
  const guess = await countGuess(deps, live, 'code', clientPrefix, compare);
  return guess === 'right' ? null : guess;
}

/** Stores a code, then mails it in the background. It takes the place of an earlier one with this nonce. */
export async function mailCode(deps: Core, input: CodeInput): Promise<CodeOutcome> {
  const live = await findLive(deps, input.secretKey);
  if (live === null) return { outcome: 'unknown' };
  const refusal = checkLink(deps, live, input.linkProof);
  if (refusal !== null) return refusal;
  const { stored, unwrapped, secretKey } = live;
  const { verify, secretId, owner, expiresAt } = stored;
  if (!verify) return { outcome: 'needs_no_code' };
  const address = openCodeAddress(unwrapped, secretKey);
  if (address === null) throw damaged(deps.events, live.tag, 'its address for codes does not match its id');
  const sender = owner === null ? null : await deps.store.findAccountById(owner);
  // An account's secrets go with it.
  if (sender === null) return { outcome: 'unknown' };
  const to = new Sensitive(new TextDecoder().decode(address));
  const tooMany = await countMail(deps, live, input.clientPrefix, sender, to);
  if (tooMany !== null) return tooMany;
  const code = randomText(allDigits, codeLength, deps.random);
  const codeTag = deriveCodeTag(secretKey, input.look, code);
  const at = await deps.store.putCode(secretId, { lookTag: deriveLookTag(input.look, secretId), codeTag });
  if (at === null) {
    await deps.codes.quota.refund(sender.id, to);
    return { outcome: 'unknown' };
  }
  deps.inBackground(async () => {
    const state = await handOver(deps, live, { sender, to, code: new Sensitive(code), locale: input.locale });
    await deps.store.setCodeState(secretId, codeTag, state);
  });
  return { outcome: 'queued', sentTo: obfuscate(to.expose()), until: Math.min(at + codeSeconds, expiresAt) };
}

/** Counts apart from the mails with links, and from the limits on requests, so that none of them uses up another. */
async function countMail(
  deps: Core,
  { stored: { secretId } }: LiveSecret,
  clientPrefix: string,
  sender: Account,
  to: Sensitive<string>,
): Promise<TooManyMails | null> {
  const { quota } = deps.codes;
  const taken = await quota.take(sender.id, to);
  if (taken.outcome === 'too_many') return { ...taken, outcome: 'too_many_mails' };
  const mailed = countedId(secretId, 'mailedCodes');
  const counted = await reserveFor(deps, secretId, clientPrefix, mailed, codeMailLimits);
  if (counted.outcome === 'reserved') return null;
  await quota.refund(sender.id, to);
  return { outcome: 'too_many_mails', retryAfterSeconds: counted.retryAfterSeconds };
}

interface Handing {
  readonly sender: Account;
  readonly to: Sensitive<string>;
  readonly code: Sensitive<string>;
  readonly locale: string;
}

async function handOver(deps: Core, { stored: { shareDomain } }: LiveSecret, { sender, ...mail }: Handing) {
  const { state } = await deps.mailer.sendAccountMail({
    ...mail,
    kind: 'code',
    from: new Sensitive(sender.username),
    senderName: await senderNameOf(deps.store, sender, shareDomain),
    brand: await deps.mailBrandOf(shareDomain),
    isInSubject: deps.codes.isInSubject,
  });
  deps.events({ event: 'account_mail_ended', kind: 'code', state });
  return state;
}
