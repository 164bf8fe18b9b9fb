/**
 * The sender's note, which anyone with the link may read before opening. It is sealed in the row, so it goes with the value (P10). Reading it
 * changes and counts nothing (P4).
 */
import { utf8 } from '../../crypto/bytes.ts';
import { hasNote, openNote } from '../../crypto/envelope.ts';
import { toBase64Url } from '../../protocol/base64url.ts';
import { flawOfNote, maxNoteCharacters, tidyNote } from '../../protocol/note.ts';
import { Sensitive } from '../sensitive.ts';
import { type AccessCore, checkLink, findLive, type LiveSecret } from './access.ts';
import type { CreationOptions, CreationOutcome, NoteInput, NoteOutcome } from './outcomes.ts';

type Noted = Pick<CreationOptions, 'note'>;
type Refusal = Extract<CreationOutcome, { outcome: 'note_too_long' | 'ill_formed' }>;

const lineOf = ({ note }: Noted): string => (note === null ? '' : tidyNote(note.expose()));

export function checkNote(input: Noted): Refusal | null {
  const flaw = flawOfNote(lineOf(input));
  if (flaw === 'not_text') return { outcome: 'ill_formed', field: 'note' };
  return flaw === null ? null : { outcome: 'note_too_long', maxCharacters: maxNoteCharacters };
}

export function noteIn(input: Noted): Uint8Array | null {
  const line = lineOf(input);
  return line === '' ? null : utf8(line);
}

/** Returns the sender's note. Changes and counts nothing. */
export async function readNote(deps: AccessCore, input: NoteInput): Promise<NoteOutcome> {
  const live = await findLive(deps, input.secretKey);
  return live === null ? { outcome: 'unknown' } : noteOf(deps, live, input.linkProof);
}

export function noteOf(deps: AccessCore, live: LiveSecret, linkProof: NoteInput['linkProof']): NoteOutcome {
  const { unwrapped, secretKey } = live;
  const { sealed } = live.stored;
  const refusal = checkLink(deps, live, linkProof);
  if (refusal?.outcome === 'incomplete_link') return { ...refusal, hasNote: hasNote(unwrapped) };
  if (refusal !== null) return refusal;
  const kept = openNote(unwrapped, secretKey, sealed);
  const note = kept && (sealed ? toBase64Url(kept) : new TextDecoder().decode(kept));
  return { outcome: 'found', sealed, note: note === null ? null : new Sensitive(note) };
}
