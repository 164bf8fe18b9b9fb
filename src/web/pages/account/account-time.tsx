/**
 * A moment in a list: short, in UTC, and exact for machines.
 *
 * Owns: its element.
 */
import type { FC } from 'hono/jsx';
import type { Words } from '../../words.ts';

export const ShortTime: FC<{ words: Words; at: number; id?: string }> = ({ words, at, id }) => (
  <time datetime={new Date(at * 1000).toISOString()} id={id}>
    {words.shortMoment(at)}
  </time>
);
