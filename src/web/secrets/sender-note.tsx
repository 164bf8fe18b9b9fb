/** A note as its recipient reads it: quoted, isolated in direction, and never a link, because anyone can make a link with a note. */
import type { FC } from 'hono/jsx';
import type { NoteOutcome } from '../../core/secrets/outcomes.ts';
import type { Frame } from '../kit/layout.tsx';

interface NoteProps {
  readonly frame: Frame;
  /** `null` if it could not be read. */
  readonly note: NoteOutcome | null;
}

/** The script fetches and opens the note of an end-to-end secret. */
export const SenderNote: FC<NoteProps> = ({ frame, note }) => {
  const text = note?.outcome === 'found' ? note.note?.expose() : undefined;
  const isSealed = note?.outcome === 'incomplete_link' && note.hasNote;
  if (text === undefined && !isSealed) return null;
  return (
    <div class="arrival" id="sender-note" hidden={isSealed}>
      <p class="hint">{frame.messages.say('note.from')}</p>
      <p>
        <q>
          <bdi>{text}</bdi>
        </q>
      </p>
    </div>
  );
};
