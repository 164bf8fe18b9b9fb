/** Shared by account pages: dependencies, password fields, mailed links, and the counting of password guesses. */
import { createHash } from 'node:crypto';
import type { FC } from 'hono/jsx';
import type { Settings } from '../../config/read.ts';
import type { TokenFate } from '../../core/account.ts';
import { type PasswordRefusal, passwordLength } from '../../core/accounts/passwords.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { usernameOf } from '../../core/mail/recipients.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { DomainService } from '../../core/share-domains/service.ts';
import type { Clock } from '../../core/time.ts';
import type { LimitedCall, RateLimiter } from '../../http/rate-limit.ts';
import type { Form } from '../kit/form.ts';
import {
  type AccountRequest,
  type FormRefusal,
  type Handler,
  refusalOfProblem,
  refuseField,
  TextField,
  type TextFieldProps,
  TickBox,
} from '../kit/form-page.tsx';
import { type CookieSite, type Messages, wrongAddress } from '../kit/language.ts';
import type { Frame } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { type PageAction, type PageReply, type PageRequest, seeOther, takeShared } from '../kit/page.ts';
import type { SessionCookie } from '../kit/session.ts';

export interface AccountPageDeps extends CookieSite {
  readonly accounts: AccountService;
  readonly domains: DomainService;
  readonly service: Pick<SecretService, 'recent' | 'findReceipt' | 'burn' | 'change'>;
  readonly settings: Settings;
  readonly limiter: Pick<RateLimiter, 'takeShared' | 'refundShared'>;
  readonly sessionCookie: SessionCookie;
  readonly links: { readonly baseUrl: string };
  readonly clock: Clock;
}

export interface FrameProps {
  readonly frame: Frame;
}

export interface EmailFormProps extends FrameProps {
  readonly email: string;
  readonly refusal: FormRefusal | null;
}

type EmailFieldProps = Pick<TextFieldProps, 'label' | 'hint' | 'autocomplete' | 'refusal'>;

export const EmailField: FC<EmailFieldProps & { email: string }> = ({ email, ...field }) => (
  <TextField autocomplete="username" {...field} name="email" type="email" value={email} />
);

const sentTexts = {
  signUp: ['signUp.sentLead', 'signUp.sentEarlier'],
  forgotten: ['forgotten.sentLead', 'forgotten.sentEarlier'],
} as const;

/** After asking for a link by email. */
export const SentPage: FC<FrameProps & { page: keyof typeof sentTexts }> = ({ frame, page }) => {
  const [lead, earlier] = sentTexts[page];
  return (
    <MessagePage
      {...{ frame, title: frame.say('sent.title'), lead: frame.say(lead) }}
      day="waiting"
      also={[frame.say('sent.hint'), frame.say(earlier)]}
      link={[frame.href(page), frame.say('sent.again')]}
    />
  );
};

interface PasswordFieldProps {
  readonly frame: Frame;
  readonly name: string;
  readonly label: string;
  readonly refusal: FormRefusal | null;
}

export const NewPasswordField: FC<PasswordFieldProps> = ({ frame, ...field }) => (
  <TextField
    {...field}
    type="password"
    autocomplete="new-password"
    messages={frame.messages}
    hint={frame.say('password.rules', { count: passwordLength.min })}
  />
);

/** Tells people and password managers whose password it is. */
export const UsernameField: FC<{ frame: Frame; username: string }> = ({ frame, username }) => (
  <div class="field">
    <label for="username">{frame.say('password.username')}</label>
    <input id="username" type="email" autocomplete="username" value={username} readonly />
  </div>
);

export const CurrentPassword: FC<PasswordFieldProps & { hint?: string }> = ({ frame, ...field }) => (
  <TextField {...field} type="password" autocomplete="current-password" messages={frame.messages} />
);

/** The hidden field tells password managers whose password it is. */
export const OwnPassword: FC<PasswordFieldProps & { hint?: string }> = (props) => (
  <>
    <input type="email" autocomplete="username" value={props.frame.visitor?.username} readonly hidden />
    <CurrentPassword {...props} />
  </>
);

const tokenFateField = 'revoke-tokens';

export function readTokenFate(form: Form): TokenFate {
  return form.text(tokenFateField) === 'yes' ? 'revoke' : 'keep';
}

/** Unticked by default: most new passwords replace forgotten ones, and programs stop working without their tokens. */
export const RevokeTokensBox: FC<{ frame: Frame; hint: string; tokens: TokenFate }> = (props) => (
  <div class="field">
    <TickBox
      name={tokenFateField}
      label={props.frame.say('password.revokeTokens')}
      hint={props.hint}
      isTicked={props.tokens === 'revoke'}
      wrong={null}
    />
  </div>
);

export function refusalOfPassword(refused: PasswordRefusal, name: string, { say }: Messages): FormRefusal {
  switch (refused.outcome) {
    case 'password_too_short':
      return refuseField(name, say('password.tooShort', { count: refused.minLength }));
    case 'password_too_long':
      return refuseField(name, say('password.tooLong', { count: refused.maxLength }));
    case 'password_common':
      return refuseField(name, say('password.common'));
    case 'password_ill_formed':
      return refuseField(name, say('password.illFormed'));
  }
}

export type SignInHandler = Handler<AccountPageDeps, PageRequest>;

/** Creates the POST action for logging in, signing up or resetting a password. Without a session, a missing cookie makes the form stale. */
export function signInPost(
  deps: AccountPageDeps,
  limit: PageAction['limit'],
  handle: SignInHandler,
  redisplay: SignInHandler,
): PageAction {
  return {
    limit,
    handle: (request) => handle(request, deps),
    refuse: async (request, problem) => {
      const { messages } = request.frame;
      const refusal = refusalOfProblem(problem, messages);
      const stale = problem.problem === 'stale_form' ? { message: messages.say('signIn.stale') } : {};
      return redisplay(request, deps, { ...refusal, ...stale });
    },
  };
}

interface LinkRequest {
  readonly page: keyof typeof sentTexts;
  readonly ask: AccountService['requestSignUp'] | AccountService['requestReset'];
  readonly redisplay: SignInHandler;
}

/** Requests a link by email. Every address gets the same response (P17); text that is not an address does not count against the limit. */
export async function askForLink(
  request: PageRequest,
  deps: AccountPageDeps,
  { page, ask, redisplay }: LinkRequest,
): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const { limiter } = deps;
  const email = (await request.form()).text('email');
  const calls: LimitedCall[] = [{ name: 'signUp', party: 'anonymous', client: clientPrefix }];
  await takeShared(limiter, calls);
  const asked = await ask({ email, locale: frame.messages.locale });
  if (asked.outcome === 'invalid_email') {
    await limiter.refundShared(calls);
    const wrong = wrongAddress(frame.messages, 'signUp.emailWrong', email);
    return redisplay(request, deps, refuseField('email', wrong));
  }
  return seeOther(`${frame.href(page)}?done=sent`);
}

interface Guess<T> {
  readonly clientPrefix: string;
  /** As typed. */
  readonly username: string;
  readonly compute: () => Promise<T>;
  readonly isWrong: (outcome: T) => boolean;
}

/**
 * Counts a password guess before checking it, as for passphrases (P14): against the client and against the address, known or not (P17).
 * Refunds all but wrong guesses, so that logging in never locks anyone out. Counts addresses by hash, so that none is stored and a long one
 * takes no more memory (P18, P21).
 *
 * @throws RequestProblem before any computation
 */
export async function countGuess<T>(
  limiter: AccountPageDeps['limiter'],
  { clientPrefix, username, compute, isWrong }: Guess<T>,
): Promise<T> {
  const address = createHash('sha256').update(usernameOf(username)).digest('base64url');
  const calls: LimitedCall[] = [
    { name: 'logIn', party: 'anonymous', client: clientPrefix },
    { name: 'logIn', party: 'account', client: address },
  ];
  await takeShared(limiter, calls);
  try {
    const outcome = await compute();
    if (!isWrong(outcome)) await limiter.refundShared(calls);
    return outcome;
  } catch (error) {
    await limiter.refundShared(calls);
    throw error;
  }
}

/** Counts a guess of the account's own password. */
export function countOwnGuess<T extends { readonly outcome: string }>(
  { clientPrefix, signedIn }: AccountRequest,
  { limiter }: AccountPageDeps,
  compute: () => Promise<T>,
): Promise<T> {
  const { username } = signedIn.caller.account;
  const isWrong = ({ outcome }: T) => outcome === 'wrong_password';
  return countGuess(limiter, { clientPrefix, username, compute, isWrong });
}
