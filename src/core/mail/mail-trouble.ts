/**
 * What is noted of a mail where the mail server gave no answer that could be.
 *
 * Owns: the words, in the place of a reply. Invariant: they name no host, no address and no setting, because whoever holds
 * the receipt's key reads them.
 */

export const mailTroubles = {
  unreachable: 'The mail server cannot be reached.',
  unanswered: 'The mail server did not answer.',
} as const;

export type MailTrouble = keyof typeof mailTroubles;

/** Which trouble a reply stands for; `null` where it is the server's own, or there is none. */
export function mailTroubleOf(reply: string | null): MailTrouble | null {
  const names = Object.keys(mailTroubles) as MailTrouble[];
  return names.find((name) => mailTroubles[name] === reply) ?? null;
}
