/**
 * Codes: six digits mailed to the address that the creator named, so that opening takes link and mailbox. Proof of the link → code → passphrase
 * or proof → claim: who lacks the mailbox can neither guess the passphrase nor use up its tries. A wrong code is counted before it is compared
 * (P14). Nothing marks a code as used: the claim ends what it opens. Code and address are in no store, event or error (P9, P18).
 */
import { concat, utf8 } from '../../crypto/bytes.ts';
import { deriveCodeTag, deriveLookTag, deriveMailboxKey, hashProof } from '../../crypto/derive.ts';
import { openCodeAddress } from '../../crypto/envelope.ts';
import { randomText } from '../../crypto/random.ts';
import { toBase64Url } from '../../protocol/base64url.ts';
import { allDigits } from '../../protocol/drawing.ts';
import { senderNameOf } from '../accounts/sender-name.ts';
import { obfuscate } from '../mail/recipients.ts';
import { countedId } from '../ports/attempts.ts';
import { codeSeconds } from '../ports/codes.ts';
import type { Core } from '../ports/core.ts';
import type { StoredSecret } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import { checkLink, clientTokenOf, damaged, findLive } from './access.ts';
import { codeMailLimits } from './attempts.ts';
import type { CodeInput, CodeOutcome } from './outcomes.ts';

/** Stores a code, then mails it in the background. It takes the place of an earlier one with this nonce. */
export async function mailCode(deps: Core, input: CodeInput): Promise<CodeOutcome> {
  const live = await findLive(deps, input.secretKey);
  if (live === null) return { outcome: 'unknown' };
  const refusal = checkLink(deps, live, input.linkProof);
  if (refusal !== null) return refusal;
  const { secretKey, unwrapped, tag } = live;
  const { secretId, verify, owner, shareDomain, expiresAt } = live.stored;
  if (!verify) return { outcome: 'needs_no_code' };
  const address = openCodeAddress(unwrapped, secretKey);
  if (address === null) throw damaged(deps.events, tag, 'its address for codes does not match its id');
  const sender = owner === null ? null : await deps.store.findAccountById(owner);
  // An account's secrets go with it.
  if (sender === null) return { outcome: 'unknown' };
  const to = new TextDecoder().decode(address);
  const retryAfterSeconds = await countMail(deps, live.stored, input.clientPrefix, to);
  if (retryAfterSeconds > 0) return { outcome: 'too_many_mails', retryAfterSeconds };
  const code = randomText(allDigits, 6, deps.random);
  const codeTag = deriveCodeTag(secretKey, input.look, code);
  const at = await deps.store.putCode(secretId, { lookTag: deriveLookTag(input.look, secretId), codeTag });
  if (at === null) return { outcome: 'unknown' };
  deps.inBackground(async () => {
    const { state } = await deps.mailer.sendAccountMail({
      ...{ kind: 'code', to: new Sensitive(to), from: new Sensitive(sender.username), locale: input.locale },
      ...{ code: new Sensitive(code), isInSubject: deps.codeIsInSubject },
      senderName: await senderNameOf(deps.store, sender, shareDomain),
      brand: await deps.mailBrandOf(shareDomain),
    });
    deps.events({ event: 'account_mail_ended', kind: 'code', state });
    await deps.store.setCodeState(secretId, codeTag, state);
  });
  return { outcome: 'queued', sentTo: obfuscate(to), until: Math.min(at + codeSeconds, expiresAt) };
}

const mails = (limit: number, windowSeconds: number) => ({ limit, windowSeconds, burst: limit });
/** In an hour, from one account. */
const fromSender = mails(100, 3_600);
/** In a day, to one mailbox: from one account, more than one secret may use up, and from all accounts. */
const [toMailbox, toMailboxInAll] = [mails(30, 86_400), mails(40, 86_400)];

/**
 * Counts a mail for its sender, its mailbox and its secret: against every limit or none. Mails with links have other limits (P21).
 * Returns the seconds to wait, or 0.
 */
async function countMail(
  { store, limits, ring }: Core,
  { secretId, owner }: StoredSecret,
  clientPrefix: string,
  address: string,
): Promise<number> {
  // Most mail servers deliver anna+anything@ to anna@.
  const name = address.toLowerCase().replace(/\+[^@]*@/, '@');
  const mailbox = toBase64Url(hashProof(concat(deriveMailboxKey(ring.current.key), utf8(name))));
  const counts = [
    { name: 'code.sender', rule: fromSender, client: String(owner) },
    { name: 'code.account', rule: toMailbox, client: `${owner} ${mailbox}` },
    { name: 'code.mailbox', rule: toMailboxInAll, client: mailbox },
  ];
  const waitMs = Math.max(...(await limits.take(counts)));
  if (waitMs > 0) return Math.ceil(waitMs / 1_000);
  const client = clientTokenOf(ring.current.key, secretId, clientPrefix);
  const mailed = await store
    .reserve(countedId(secretId, 'mailedCodes'), client, codeMailLimits)
    .catch(async (fault) => {
      await limits.refund(counts);
      throw fault;
    });
  if (mailed.outcome === 'reserved') return 0;
  await limits.refund(counts);
  return mailed.retryAfterSeconds;
}
