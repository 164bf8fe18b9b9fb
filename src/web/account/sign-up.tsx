/**
 * Signing up: first the address, then, through an emailed link, a password. Every address gets the same response (P17): only the link's
 * holder learns whether the address has an account. Opening the link changes nothing, so mail scanners do no harm (P4). Closing sign-up
 * also disables older links.
 */
import type { FC } from 'hono/jsx';
import { Sensitive } from '../../core/sensitive.ts';
import { FormPage, type FormRefusal, formReply } from '../kit/form-page.tsx';
import { MessagePage, type Way } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { browserLabel } from './browser-label.ts';
import {
  type AccountPageDeps,
  askForLink,
  EmailField,
  type EmailFormProps,
  type FrameProps,
  NewPasswordField,
  refusalOfPassword,
  SentPage,
  type SignInHandler,
  signInPost,
  UsernameField,
} from './form.tsx';

export function createSignUpPages(deps: AccountPageDeps): PageRoute[] {
  const whenOpen = (handle: SignInHandler) => (deps.settings.signUpIsOpen ? handle : showClosed);
  const show = (handle: SignInHandler) => (request: PageRequest) => whenOpen(handle)(request, deps);
  const form = deps.settings.signUpIsOpen ? ({ isSignIn: true } as const) : {};
  return [
    {
      name: 'signUp',
      ...form,
      get: { limit: 'none', handle: show(showForm) },
      post: signInPost(deps, 'none', whenOpen(ask), showForm),
    },
    {
      name: 'completeSignUp',
      ...form,
      get: { limit: 'manage', handle: show(showChoice) },
      post: signInPost(deps, 'manage', whenOpen(complete), showChoice),
    },
  ];
}

const SignUpPage: FC<EmailFormProps> = ({ frame, email, refusal }) => (
  <FormPage
    {...{ frame, refusal }}
    title={frame.say('signUp.title')}
    isQuestion
    action={frame.href('signUp')}
    isSignIn
    submit={frame.say('signUp.submit')}
    after={
      <p>
        <a href={frame.href('logIn')}>{frame.say('signUp.logIn')}</a>
      </p>
    }
  >
    <EmailField
      {...{ email, refusal, label: frame.say('signUp.email'), hint: frame.say('signUp.emailHint') }}
      autocomplete="email"
    />
  </FormPage>
);

const SignUpClosedPage: FC<FrameProps> = ({ frame }) => (
  <MessagePage
    frame={frame}
    title={frame.say('signUp.closedTitle')}
    lead={frame.say('signUp.closed')}
    link={[frame.href('logIn'), frame.say('signUp.logIn')]}
  />
);

interface FirstPasswordProps extends FrameProps {
  readonly action: string;
  readonly submit: string;
  readonly username: string;
  readonly refusal: FormRefusal | null;
}

export const FirstPasswordPage: FC<FirstPasswordProps> = ({ username, ...form }) => {
  const { frame, refusal } = form;
  const { say } = frame.messages;
  return (
    <FormPage {...form} title={say('signUp.chooseTitle')} lead={say('signUp.chooseLead')} isSignIn>
      <UsernameField frame={frame} username={username} />
      <NewPasswordField frame={frame} name="password" label={say('password.choose')} refusal={refusal} />
    </FormPage>
  );
};

const SignUpOverPage: FC<FrameProps & { isTaken?: boolean }> = ({ frame, isTaken = false }) => {
  const { href, messages } = frame;
  const logIn: Way = [href('logIn'), messages.say('logIn.title')];
  return (
    <MessagePage
      frame={frame}
      title={messages.say(isTaken ? 'signUp.existsTitle' : 'signUp.goneTitle')}
      lead={messages.say(isTaken ? 'signUp.exists' : 'signUp.gone')}
      ways={
        isTaken
          ? [logIn, [href('forgotten'), messages.say('forgotten.title')]]
          : [[href('signUp'), messages.say('signUp.askAgain')], logIn]
      }
    />
  );
};

function showClosed({ frame }: PageRequest): PageReply {
  return pageReply(404, <SignUpClosedPage frame={frame} />);
}

async function showForm(
  { frame, query, signedIn, form }: PageRequest,
  _deps: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  if (refusal === null && signedIn !== null) return seeOther(frame.href('account'));
  if (refusal === null && query.get('done') === 'sent')
    return pageReply(200, <SentPage frame={frame} page="signUp" />);
  const email = refusal === null ? '' : (await form()).text('email');
  return formReply(<SignUpPage {...{ frame, email, refusal }} />, refusal);
}

async function ask(request: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, signedIn } = request;
  if (signedIn !== null) return seeOther(frame.href('account'));
  return askForLink(request, deps, { page: 'signUp', ask: deps.accounts.requestSignUp, redisplay: showForm });
}

async function showChoice(
  { frame, key }: PageRequest,
  { accounts }: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const found = await accounts.checkSignUp(key);
  if (found.outcome === 'gone') return pageReply(404, <SignUpOverPage frame={frame} />);
  const { username } = found;
  const [action, submit] = [frame.href('completeSignUp', key), frame.say('signUp.finish')];
  return formReply(<FirstPasswordPage {...{ frame, action, submit, username, refusal }} />, refusal);
}

async function complete(request: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, key, userAgent, signedIn, clientPrefix } = request;
  const password = new Sensitive((await request.form()).text('password'));
  const label = browserLabel(userAgent);
  const made = await deps.accounts.signUp({ ticket: key, password, label, clientPrefix });
  switch (made.outcome) {
    case 'signed_up':
      // This browser was logged in to a different account.
      if (signedIn !== null) await deps.accounts.logOut(signedIn);
      return seeOther(`${frame.href('account')}?done=signed-up`, [
        deps.sessionCookie.set(made.session, deps.clock()),
      ]);
    case 'gone':
      return pageReply(404, <SignUpOverPage frame={frame} />);
    case 'exists':
      return pageReply(409, <SignUpOverPage frame={frame} isTaken />);
    default:
      return showChoice(request, deps, refusalOfPassword(made, 'password', frame.messages));
  }
}
