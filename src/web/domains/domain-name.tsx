/**
 * The name of a domain, in a page.
 *
 * Owns: where its line may break. Invariant: it keeps its order in a text that runs from right to left.
 */
import type { FC } from 'hono/jsx';

export const DomainName: FC<{ name: string }> = ({ name }) => (
  <bdi>
    {name.split('.').map((label, at) => (
      <>
        {at === 0 ? null : '.'}
        {at === 0 ? null : <wbr />}
        {label}
      </>
    ))}
  </bdi>
);
