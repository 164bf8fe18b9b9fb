/**
 * Two columns where there is room: what a page is about, and what is done there; one below the other elsewhere.
 *
 * Owns: the markup of that composition, with the mark drawn large below the first column; it must stand directly in a page. Invariant: the order for reading and for the
 * keyboard is that of the narrow page.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import { Mark } from './layout.tsx';

export const Split: FC<PropsWithChildren<{ intro: ReturnType<FC> }>> = ({ intro, children }) => (
  <div class="split">
    <div>
      {intro}
      <Mark class="wings" />
    </div>
    <div>{children}</div>
  </div>
);
