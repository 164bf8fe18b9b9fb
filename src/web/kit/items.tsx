/** Lists of what an account owns: each row has a name, a few short facts, and actions. */
import type { Child, FC, PropsWithChildren } from 'hono/jsx';

// Safari ignores a list without bullets unless it has a role. Spread, because the linter calls the role redundant.
const list = { role: 'list' } as const;

interface ItemsProps {
  readonly label: string;
  /** Cuts off names and notes rather than letting a row grow. */
  readonly isDense?: boolean;
}

export const Items: FC<PropsWithChildren<ItemsProps>> = ({ label, isDense = false, children }) => (
  <ul class={isDense ? 'items dense' : 'items'} aria-label={label} {...list}>
    {children}
  </ul>
);

interface ItemProps {
  readonly picture?: Child;
  readonly name: Child;
  readonly notes: readonly (readonly Child[])[];
  readonly actions?: Child;
}

export const Item: FC<ItemProps> = ({ picture = null, name, notes, actions = null }) => (
  <li class="item">
    {picture === null ? null : <span class="item-mark">{picture}</span>}
    <div class="item-text">
      <p class="item-name">{name}</p>
      {notes.map((facts) => (
        <p class="item-notes">
          {facts.map((fact, at) => (
            <>
              {at === 0 ? null : '\u00a0· '}
              {fact}
            </>
          ))}
        </p>
      ))}
    </div>
    {actions === null ? null : <div class="item-actions">{actions}</div>}
  </li>
);

interface ActionsProps {
  readonly id: string;
  readonly label: string;
  /** The id of the element that names the row. */
  readonly of: string;
}

/** A menu of links. `client/account.ts` closes it on Escape or a click elsewhere. */
export const Actions: FC<PropsWithChildren<ActionsProps>> = ({ id, label, of, children }) => (
  <details class="more" name="more">
    <summary id={id} aria-label={label} aria-labelledby={`${id} ${of}`}>
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M5 12h.01M12 12h.01M19 12h.01" />
      </svg>
    </summary>
    <ul class="more-list" {...list}>
      {children}
    </ul>
  </details>
);
