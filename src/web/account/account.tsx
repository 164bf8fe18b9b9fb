/** The account's first page: its owner, language, sharing and notices, and the link for deleting it. */
import type { FC } from 'hono/jsx';
import type { Account, AccountCaller } from '../../core/account.ts';
import { maxSenderName } from '../../core/accounts/sender-name.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Plan, PlanName } from '../../core/plans.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { Form } from '../kit/form.ts';
import {
  type AccountRequest,
  type DoneTexts,
  type FormRefusal,
  forAccount,
  formReply,
  refuseField,
  TextField,
} from '../kit/form-page.tsx';
import type { Messages } from '../kit/language.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { type PageReply, type PageRoute, seeOther } from '../kit/page.ts';
import { Badge, Button } from '../kit/parts.tsx';
import { NoticeBoxes } from '../secrets/fields.tsx';
import { readNoticeKinds } from '../secrets/typed.ts';
import { createDeletePages } from './delete.tsx';
import type { AccountPageDeps } from './form.tsx';
import { createForgottenPages, createPasswordPages } from './password.tsx';
import { createRecentPages } from './recent.tsx';
import { waitingStates } from './recent-list.tsx';
import { type AccountHead, AccountPage, headFor } from './sections.tsx';
import { createLogInPages, createSessionPages } from './sessions.tsx';
import { createSignUpPages } from './sign-up.tsx';
import { createTokenPages } from './tokens.tsx';

export function createAccountPages(deps: AccountPageDeps): PageRoute[] {
  return [
    { name: 'account', get: forAccount(deps, showAccount) },
    {
      name: 'notices',
      get: forAccount(deps, ({ frame }) => seeOther(frame.href('account'))),
      post: forAccount(deps, setNotices, showAccount),
    },
    ...createLogInPages(deps),
    ...createSignUpPages(deps),
    ...createForgottenPages(deps),
    ...createPasswordPages(deps),
    ...createDeletePages(deps),
    ...createTokenPages(deps),
    ...createSessionPages(deps),
    ...createRecentPages(deps),
  ];
}

const doneTexts: DoneTexts = {
  'signed-up': ['account.welcome'],
  password: ['account.passwordChanged'],
  'password-tokens': ['account.passwordChanged', 'account.tokensRevoked'],
  'reset-kept': ['account.resetKept'],
  'reset-kept-tokens': ['account.resetKept', 'account.tokensRevoked'],
  'reset-lost': ['account.resetLost'],
  'reset-lost-tokens': ['account.resetLost', 'account.tokensRevoked'],
  notices: ['notices.saved'],
};

const planNames: Readonly<Record<PlanName, MessageKey>> = {
  anonymous: 'account.planBasic',
  basic: 'account.planBasic',
  identity: 'account.planIdentity',
};

const nameField = 'sender-name';

type Typed = Pick<Account, 'notify' | 'senderName'>;

/** Strangers who sign up may not choose a sender name, because they could impersonate others in the site's emails. */
function mayChooseName({ signUpIsOpen, plans }: AccountPageDeps['settings'], { plan }: Account): boolean {
  return !signUpIsOpen || plans[plan].maxDomains > 0;
}

interface AccountProps extends AccountHead {
  readonly account: Account;
  readonly plan: Plan;
  readonly typed: Typed;
  readonly waiting: Waiting | null;
}

const ProfilePage: FC<AccountProps> = (props) => {
  const { account, plan, typed, waiting, ...head } = props;
  const { frame } = head;
  const { say } = frame;
  return (
    <AccountPage {...head} section="account" title={say('account.title')}>
      <Owner {...props} />
      <Language frame={frame} />
      <section class="sheet">
        <h2>{say('account.sharing')}</h2>
        <p>{limitsIn(frame.messages, plan)}</p>
        <SharingForm {...props} />
      </section>
      <section class="danger">
        <div>
          <h2>{say('account.deleteSection')}</h2>
          <p>{say('account.deleteHint')}</p>
        </div>
        <a class="button quiet small" href={frame.href('deleteAccount')}>
          {say('account.deleteLink')}
        </a>
      </section>
    </AccountPage>
  );
};

const Owner: FC<AccountProps> = ({ frame, account, waiting }) => (
  <section class="sheet owner">
    <span class="initial" aria-hidden="true">
      {[...account.username][0]?.toLocaleUpperCase(frame.messages.locale)}
    </span>
    <div>
      <p class="owner-name">
        <bdi>{account.username}</bdi>
      </p>
      <p>
        <Badge kind="plain">{frame.say(planNames[account.plan])}</Badge>
        {waiting === null ? null : (
          <a href={`${frame.href('recent')}?state=waiting`}>{waitingIn(frame.messages, waiting)}</a>
        )}
      </p>
    </div>
  </section>
);

/** The number of unopened secrets, up to `countedMax`. */
interface Waiting {
  readonly count: number;
  readonly isMore: boolean;
}

function waitingIn({ say }: Messages, { count, isMore }: Waiting): string {
  if (isMore) return say('account.waitingMany', { count });
  return count === 0 ? say('account.waitingNone') : say('account.waiting', { count });
}

function limitsIn({ say, duration, size }: Messages, plan: Plan): string {
  return say('account.limits', {
    size: size(plan.maxValueBytes),
    sealedSize: size(plan.maxSealedBytes),
    shortest: duration(plan.ttlMinSeconds),
    longest: duration(plan.ttlMaxSeconds),
    usual: duration(plan.ttlDefaultSeconds),
  });
}

const Language: FC<{ frame: Frame }> = ({ frame: { messages, settings } }) =>
  settings.locales.length < 2 ? null : (
    <section class="sheet">
      <h2>{messages.say('account.language')}</h2>
      <p>{messages.languageName(messages.locale)}</p>
      <p class="hint">{messages.say('account.languageHint')}</p>
    </section>
  );

const SharingForm: FC<AccountProps> = ({ frame, account, typed, refusal }) => (
  <PostForm frame={frame} action={frame.href('notices')} class="after">
    {mayChooseName(frame.settings, account) ? (
      <TextField
        name={nameField}
        label={frame.say('account.senderName')}
        hint={frame.say('account.senderNameHint')}
        value={typed.senderName ?? ''}
        isOptional
        refusal={refusal}
      />
    ) : null}
    <h3>{frame.say('notices.title')}</h3>
    <p class="hint">{frame.say('notices.lead')}</p>
    <NoticeBoxes frame={frame} ticked={typed.notify} wrong={null} />
    <Button frame={frame} class="quiet" say="notices.submit" />
  </PostForm>
);

async function showAccount(
  request: AccountRequest,
  deps: AccountPageDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { caller } = request.signedIn;
  const { account } = caller;
  const form = refusal && (await request.form());
  const typed = form === null ? account : typedIn(form, account);
  const head = await headFor(request, deps, refusal, doneTexts);
  const waiting = await countWaiting(deps.service, caller);
  const plan = deps.settings.plans[account.plan];
  return formReply(<ProfilePage {...{ ...head, account, plan, typed, waiting }} />, refusal);
}

function typedIn(form: Form, { notify }: Account): Typed {
  return { notify: readNoticeKinds(form) ?? notify, senderName: form.text(nameField) };
}

const countedMax = 50;

/** Returns `null` if the store is unavailable, so that a refused form can still be shown. */
async function countWaiting(
  service: AccountPageDeps['service'],
  caller: AccountCaller,
): Promise<Waiting | null> {
  const input = { limit: countedMax, cursor: null, states: waitingStates };
  try {
    const found = await service.recent(input, caller);
    if (found.outcome !== 'listed') return null;
    return { count: found.receipts.length, isMore: found.nextCursor !== null };
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

async function setNotices(request: AccountRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame, signedIn } = request;
  const { account } = signedIn.caller;
  const form = await request.form();
  const toAccount = frame.href('account');
  if (readNoticeKinds(form) === null) return seeOther(toAccount);
  const { notify, senderName } = typedIn(form, account);
  const isNamed = mayChooseName(deps.settings, account);
  if (isNamed && !(await deps.accounts.setSenderName(signedIn, senderName ?? ''))) {
    const wrong = frame.say('account.senderNameWrong', { max: maxSenderName });
    return showAccount(request, deps, refuseField(nameField, wrong));
  }
  await deps.accounts.setNotify(signedIn, notify);
  return seeOther(`${toAccount}?done=notices`);
}
