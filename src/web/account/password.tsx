/**
 * Changing a password. It takes the current one, counted like a log-in, so an open browser is not enough and guesses
 * are limited.
 */
import type { FC } from 'hono/jsx';
import type { SignedIn, TokenFate } from '../../core/accounts/accounts.ts';
import { Sensitive } from '../../core/sensitive.ts';
import {
  BackToAccount,
  FormPage,
  type FormRefusal,
  forAccount,
  formReply,
  refuseField,
} from '../kit/form-page.tsx';
import type { Frame } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, seeOther } from '../page.ts';
import {
  type AccountPageDeps,
  countGuess,
  NewPasswordField,
  OwnPassword,
  RevokeTokensBox,
  readTokenFate,
  refusalOfPassword,
} from './form.tsx';

export function createPasswordPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'password',
      get: forAccount((request, signedIn) => showForm(request, signedIn, null)),
      post: forAccount((request, signedIn) => change(request, signedIn, deps), showForm),
    },
  ];
}

interface PasswordProps {
  readonly frame: Frame;
  readonly username: string;
  readonly tokens: TokenFate;
  readonly refusal: FormRefusal | null;
}

const PasswordPage: FC<PasswordProps> = ({ frame, username, tokens, refusal }) => {
  const { say } = frame.words;
  return (
    <FormPage
      {...{ frame, refusal }}
      title={say('password.title')}
      lead={say('password.lead')}
      action={frame.href('password')}
      submit={say('password.submit')}
      after={<BackToAccount frame={frame} />}
    >
      <OwnPassword {...{ frame, username, refusal }} name="current" label={say('password.current')} />
      <NewPasswordField frame={frame} name="next" label={say('password.next')} refusal={refusal} />
      <RevokeTokensBox frame={frame} hint={say('password.revokeHint')} tokens={tokens} />
    </FormPage>
  );
};

async function showForm(
  { frame, form }: PageRequest,
  { caller }: SignedIn,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { username } = caller.account;
  const tokens = refusal === null ? 'keep' : readTokenFate(await form());
  return formReply(<PasswordPage {...{ frame, username, tokens, refusal }} />, refusal);
}

async function change(request: PageRequest, signedIn: SignedIn, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const form = await request.form();
  const current = new Sensitive(form.text('current'));
  const next = new Sensitive(form.text('next'));
  const tokens = readTokenFate(form);
  const { words } = frame;
  const outcome = await countGuess(deps.limiter, {
    clientPrefix,
    username: signedIn.caller.account.username,
    compute: () => deps.accounts.changePassword(signedIn, { current, next, tokens, locale: words.locale }),
    isWrong: ({ outcome }) => outcome === 'wrong_password',
  });
  switch (outcome.outcome) {
    case 'changed': {
      const done = tokens === 'revoke' ? 'password-tokens' : 'password';
      return seeOther(`${frame.href('account')}?done=${done}`);
    }
    case 'wrong_password':
      return showForm(request, signedIn, refuseField('current', words.say('password.wrong')));
    default:
      return showForm(request, signedIn, refusalOfPassword(outcome, 'next', words));
  }
}
