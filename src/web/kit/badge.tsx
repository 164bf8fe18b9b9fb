/**
 * How something stands, in a word.
 *
 * Owns: the markup of a status. Invariant: the word says it; colour and icon only repeat it.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import { Icon, type IconName } from './icons.tsx';

export type BadgeKind = 'good' | 'waiting' | 'bad' | 'plain';

export const Badge: FC<PropsWithChildren<{ kind: BadgeKind; icon?: IconName }>> = ({
  kind,
  icon,
  children,
}) => (
  <span class={kind === 'plain' ? 'badge' : `badge ${kind}`}>
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </span>
);
