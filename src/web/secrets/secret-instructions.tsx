/**
 * What the owner of a share domain tells its readers.
 *
 * Owns: the frame around it. Invariant: the words are the owner's and said to be: they stand as text, never as markup, and
 * under the name of the domain's face.
 */
import type { FC } from 'hono/jsx';
import type { Frame } from '../kit/layout.tsx';

/** @param text plain, one paragraph a line; `null`: none */
export const Instructions: FC<{ frame: Frame; text: string | null }> = ({ frame, text }) => {
  if (text === null) return null;
  const paragraphs = text.split('\n').filter((line) => line.trim() !== '');
  return (
    <section class="instructions" aria-labelledby="instructions">
      <h2 id="instructions">{frame.words.say('secret.instructions', { site: frame.brand.name })}</h2>
      {paragraphs.map((paragraph) => (
        <p dir="auto">{paragraph}</p>
      ))}
    </section>
  );
};
