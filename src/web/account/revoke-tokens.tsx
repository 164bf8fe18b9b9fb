/**
 * The box that revokes every API token together with a new password.
 *
 * Invariant: unticked until it is ticked, because most new passwords are for forgotten ones, and programs stop without
 * their tokens; what is not exactly its value keeps them.
 */
import type { FC } from 'hono/jsx';
import type { TokenFate } from '../../core/accounts/accounts.ts';
import type { Form } from '../kit/form.ts';
import type { Frame } from '../kit/layout.tsx';
import { TickBox } from './tick-box.tsx';

const name = 'revoke-tokens';

export function readTokenFate(form: Form): TokenFate {
  return form.text(name) === 'yes' ? 'revoke' : 'keep';
}

export const RevokeTokensBox: FC<{ frame: Frame; hint: string; tokens: TokenFate }> = ({
  frame,
  hint,
  tokens,
}) => (
  <div class="field">
    <TickBox
      name={name}
      label={frame.words.say('password.revokeTokens')}
      hint={hint}
      isTicked={tokens === 'revoke'}
      wrong={null}
    />
  </div>
);
