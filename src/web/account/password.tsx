/**
 * Changing a password, and replacing a forgotten one.
 *
 * A change requires the current password, so that an open browser is not enough, and guesses are limited like log-ins. For a forgotten
 * password, every address gets the same response (P17), and opening the emailed link changes nothing (P4). The page says what a new
 * password loses. A refused form keeps the choice about tokens and the API token, with which the list of shared secrets survives.
 */
import type { FC } from 'hono/jsx';
import type { TokenFate } from '../../core/account.ts';
import { Sensitive } from '../../core/sensitive.ts';
import {
  type AccountRequest,
  FormPage,
  type FormRefusal,
  forAccount,
  formReply,
  refuseField,
  TextField,
} from '../kit/form-page.tsx';
import { PostForm } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { browserLabel } from './browser-label.ts';
import {
  type AccountPageDeps,
  askForLink,
  countOwnGuess,
  EmailField,
  type EmailFormProps,
  type FrameProps,
  NewPasswordField,
  OwnPassword,
  RevokeTokensBox,
  readTokenFate,
  refusalOfPassword,
  SentPage,
  type SignInHandler,
  signInPost,
  UsernameField,
} from './form.tsx';
import { type AccountHead, AccountPage, headFor } from './sections.tsx';
import { FirstPasswordPage } from './sign-up.tsx';

export function createPasswordPages(deps: AccountPageDeps): PageRoute[] {
  return [{ name: 'password', get: forAccount(deps, showForm), post: forAccount(deps, change, showForm) }];
}

const PasswordPage: FC<AccountHead & { tokens: TokenFate }> = ({ tokens, ...head }) => {
  const { frame, refusal } = head;
  const { say, href } = frame;
  return (
    <AccountPage
      {...head}
      section="password"
      title={say('password.title')}
      lead={say('password.lead')}
      scripts={['account']}
    >
      <PostForm frame={frame} action={href('password')} class="sheet">
        <OwnPassword {...{ frame, refusal }} name="current" label={say('password.current')} />
        <NewPasswordField {...{ frame, refusal }} name="next" label={say('password.next')} />
        <RevokeTokensBox frame={frame} hint={say('password.revokeHint')} tokens={tokens} />
        <button type="submit">{say('password.submit')}</button>
      </PostForm>
    </AccountPage>
  );
};

async function showForm(
  request: AccountRequest,
  deps: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const tokens = refusal === null ? 'keep' : readTokenFate(await request.form());
  const head = await headFor(request, deps, refusal);
  return formReply(<PasswordPage {...head} tokens={tokens} />, refusal);
}

async function change(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, signedIn } = request;
  const form = await request.form();
  const current = new Sensitive(form.text('current'));
  const next = new Sensitive(form.text('next'));
  const tokens = readTokenFate(form);
  const { messages } = frame;
  const outcome = await countOwnGuess(request, deps, () =>
    deps.accounts.changePassword(signedIn, { current, next, tokens, locale: messages.locale }),
  );
  switch (outcome.outcome) {
    case 'changed': {
      const done = tokens === 'revoke' ? 'password-tokens' : 'password';
      return seeOther(`${frame.href('account')}?done=${done}`);
    }
    case 'wrong_password':
      return showForm(request, deps, refuseField('current', frame.say('password.wrong')));
    default:
      return showForm(request, deps, refusalOfPassword(outcome, 'next', messages));
  }
}

export function createForgottenPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'forgotten',
      isSignIn: true,
      get: { limit: 'none', handle: (request) => showForgotten(request, deps) },
      post: signInPost(deps, 'none', ask, showForgotten),
    },
    {
      name: 'reset',
      isSignIn: true,
      get: { limit: 'manage', handle: (request) => showReset(request, deps) },
      post: signInPost(deps, 'manage', reset, showReset),
    },
  ];
}

const ForgottenPage: FC<EmailFormProps> = ({ frame, email, refusal }) => (
  <FormPage
    {...{ frame, refusal }}
    title={frame.say('forgotten.title')}
    lead={frame.say('forgotten.lead')}
    isQuestion
    action={frame.href('forgotten')}
    isSignIn
    submit={frame.say('forgotten.submit')}
  >
    <EmailField {...{ email, refusal }} label={frame.say('forgotten.email')} />
  </FormPage>
);

interface ResetProps extends FrameProps {
  readonly ticket: string;
  readonly username: string;
  readonly token: string;
  readonly tokens: TokenFate;
  readonly refusal: FormRefusal | null;
}

const ResetPage: FC<ResetProps> = ({ frame, ticket, username, token, tokens, refusal }) => (
  <FormPage
    {...{ frame, refusal }}
    title={frame.say('reset.title')}
    lead={frame.say('reset.lead')}
    before={<ResetChanges frame={frame} />}
    action={frame.href('reset', ticket)}
    isSignIn
    submit={frame.say('reset.submit')}
  >
    <UsernameField frame={frame} username={username} />
    <NewPasswordField frame={frame} name="password" label={frame.say('password.next')} refusal={refusal} />
    <TextField
      name="token"
      label={frame.say('reset.token')}
      note={frame.say('reset.optional')}
      hint={frame.say('reset.tokenHint')}
      value={token}
      refusal={refusal}
      isOptional
    />
    <RevokeTokensBox frame={frame} hint={frame.say('reset.revokeHint')} tokens={tokens} />
  </FormPage>
);

const ResetChanges: FC<FrameProps> = ({ frame: { say } }) => (
  <section class="note">
    <h2>{say('reset.changesTitle')}</h2>
    <ul>
      <li>{say('reset.changesList')}</li>
      <li>{say('reset.changesSessions')}</li>
      <li>{say('reset.changesLinks')}</li>
      <li>{say('reset.changesTokens')}</li>
    </ul>
  </section>
);

const ResetGonePage: FC<FrameProps> = ({ frame }) => (
  <MessagePage
    {...{ frame, title: frame.say('reset.goneTitle'), lead: frame.say('reset.gone') }}
    ways={[[frame.href('forgotten'), frame.say('reset.askAgain')]]}
  />
);

async function showForgotten(
  { frame, query, form }: PageRequest,
  _deps: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  if (refusal === null && query.get('done') === 'sent')
    return pageReply(200, <SentPage frame={frame} page="forgotten" />);
  const email = refusal === null ? '' : (await form()).text('email');
  return formReply(<ForgottenPage {...{ frame, email, refusal }} />, refusal);
}

const ask: SignInHandler = (request, deps) =>
  askForLink(request, deps, { page: 'forgotten', ask: deps.accounts.requestReset, redisplay: showForgotten });

async function showReset(
  { frame, key, form }: PageRequest,
  { accounts }: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const found = await accounts.checkReset(key);
  if (found.outcome === 'gone') return pageReply(404, <ResetGonePage frame={frame} />);
  const { username, isFirst } = found;
  if (isFirst) {
    const [action, submit] = [frame.href('reset', key), frame.say('reset.submit')];
    return formReply(<FirstPasswordPage {...{ frame, action, submit, username, refusal }} />, refusal);
  }
  const typed = refusal === null ? null : await form();
  const token = typed?.text('token') ?? '';
  const tokens = typed === null ? 'keep' : readTokenFate(typed);
  return formReply(<ResetPage {...{ frame, ticket: key, username, token, tokens, refusal }} />, refusal);
}

async function reset(request: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, key, userAgent, signedIn, clientPrefix } = request;
  const form = await request.form();
  const tokens = readTokenFate(form);
  const set = await deps.accounts.resetPassword({
    ticket: key,
    password: new Sensitive(form.text('password')),
    existingToken: new Sensitive(form.text('token').trim()),
    tokens,
    label: browserLabel(userAgent),
    locale: frame.messages.locale,
    clientPrefix,
  });
  switch (set.outcome) {
    case 'reset': {
      if (signedIn !== null) await deps.accounts.logOut(signedIn);
      const list = set.keepsList ? 'reset-kept' : 'reset-lost';
      const replaced = tokens === 'revoke' ? (`${list}-tokens` as const) : list;
      const done = set.isFirst ? 'signed-up' : replaced;
      const cookie = deps.sessionCookie.set(set.session, deps.clock());
      return seeOther(`${frame.href('account')}?done=${done}`, [cookie]);
    }
    case 'gone':
      return pageReply(404, <ResetGonePage frame={frame} />);
    case 'invalid_token':
      return showReset(request, deps, refuseField('token', frame.say('reset.tokenWrong')));
    default:
      return showReset(request, deps, refusalOfPassword(set, 'password', frame.messages));
  }
}
