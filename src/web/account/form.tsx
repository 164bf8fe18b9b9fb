/** What account pages share: their dependencies, password fields, mailed links, and the counting of password guesses. */
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
import { type FormRefusal, refusalOfProblem, refuseField, TextField, TickBox } from '../kit/form-page.tsx';
import type { Frame } from '../kit/layout.tsx';
import { type PageAction, type PageReply, type PageRequest, seeOther, takeShared } from '../kit/page.ts';
import type { SessionCookie } from '../kit/session.ts';
import { type Words, wrongAddress } from '../kit/words.ts';

export interface AccountPageDeps {
  readonly accounts: AccountService;
  readonly domains: DomainService;
  readonly service: Pick<SecretService, 'recent'>;
  readonly settings: Settings;
  readonly limiter: Pick<RateLimiter, 'takeShared' | 'refundShared'>;
  readonly sessionCookie: SessionCookie;
  readonly links: { readonly baseUrl: string };
  readonly clock: Clock;
}

export interface FrameProps {
  readonly frame: Frame;
}

/** Of a form that asks for an address alone. */
export interface EmailFormProps extends FrameProps {
  readonly email: string;
  readonly refusal: FormRefusal | null;
}

interface PasswordFieldProps {
  readonly frame: Frame;
  readonly name: string;
  readonly label: string;
  readonly refusal: FormRefusal | null;
}

/** Shows the rules up front. */
export const NewPasswordField: FC<PasswordFieldProps> = ({ frame, ...field }) => (
  <TextField
    {...field}
    type="password"
    autocomplete="new-password"
    words={frame.words}
    hint={frame.words.say('password.rules', { count: passwordLength.min })}
  />
);

/** For the person and for password managers: whose password it is, where nothing else on the page says so. */
export const UsernameField: FC<{ frame: Frame; username: string }> = ({ frame, username }) => (
  <div class="field">
    <label for="username">{frame.words.say('password.username')}</label>
    <input id="username" type="email" autocomplete="username" value={username} readonly />
  </div>
);

interface OwnPasswordProps extends PasswordFieldProps {
  readonly username: string;
  readonly hint?: string;
}

/** Asks for the account's current password. The page says whose it is; the field says so to password managers. */
export const OwnPassword: FC<OwnPasswordProps> = ({ frame, username, ...field }) => (
  <>
    <input type="email" autocomplete="username" value={username} readonly hidden />
    <TextField {...field} type="password" autocomplete="current-password" words={frame.words} />
  </>
);

const tokenFateField = 'revoke-tokens';

export function readTokenFate(form: Form): TokenFate {
  return form.text(tokenFateField) === 'yes' ? 'revoke' : 'keep';
}

/**
 * Revokes every API token along with the old password. Unticked by default: most new passwords replace forgotten ones,
 * and programs stop without their tokens.
 */
export const RevokeTokensBox: FC<{ frame: Frame; hint: string; tokens: TokenFate }> = (props) => (
  <div class="field">
    <TickBox
      name={tokenFateField}
      label={props.frame.words.say('password.revokeTokens')}
      hint={props.hint}
      isTicked={props.tokens === 'revoke'}
      wrong={null}
    />
  </div>
);

/** @param name of the field that holds the password */
export function refusalOfPassword(refused: PasswordRefusal, name: string, { say }: Words): FormRefusal {
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

/** The POST of a form that logs in, signs up or resets. Without a session it is stale when its cookie is missing. */
export function signInPost(
  limit: PageAction['limit'],
  handle: PageAction['handle'],
  redisplay: (request: PageRequest, refusal: FormRefusal) => Promise<PageReply>,
): PageAction {
  return {
    limit,
    handle,
    refuse: (request, problem) => {
      const { words } = request.frame;
      const refusal = refusalOfProblem(problem, words);
      const isStale = problem.problem === 'stale_form';
      return redisplay(request, isStale ? { ...refusal, message: words.say('signIn.stale') } : refusal);
    },
  };
}

interface LinkRequest {
  /** The page whose form asks. */
  readonly page: 'signUp' | 'forgotten';
  readonly ask: AccountService['requestSignUp'] | AccountService['requestReset'];
  readonly redisplay: (request: PageRequest, refusal: FormRefusal) => Promise<PageReply>;
}

/** Asks for a mailed link. Every address gets the same answer (P17); a text that is not an address is not counted. */
export async function askForLink(
  request: PageRequest,
  limiter: AccountPageDeps['limiter'],
  { page, ask, redisplay }: LinkRequest,
): Promise<PageReply> {
  const { frame, clientPrefix } = request;
  const email = (await request.form()).text('email');
  const calls: LimitedCall[] = [{ name: 'signUp', party: 'anonymous', client: clientPrefix }];
  await takeShared(limiter, calls);
  const asked = await ask({ email, locale: frame.words.locale });
  if (asked.outcome === 'invalid_email') {
    await limiter.refundShared(calls);
    return redisplay(request, refuseField('email', wrongAddress(frame.words, 'signUp.emailWrong', email)));
  }
  return seeOther(`${frame.href(page)}?done=sent`);
}

interface Guess<T> {
  readonly clientPrefix: string;
  /** The address whose password is tried, as typed. */
  readonly username: string;
  readonly compute: () => Promise<T>;
  readonly isWrong: (outcome: T) => boolean;
}

/**
 * As with passphrases (P14), a guess at a password is counted before it is computed: against the client and against the
 * address, known or not (P17). Anything but a wrong guess is given back, so logging in locks nobody out. Addresses are
 * counted by a hash, so none is kept and a long one takes no more memory (P18, P21).
 *
 * @throws RequestProblem before anything is computed.
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
