/** The account page: facts, language, notices, and links to the account's other pages. */
import type { FC } from 'hono/jsx';
import type { Account, NoticeKind, SignedIn } from '../../core/account.ts';
import type { Plan, PlanName } from '../../core/plans.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { mayHaveDomains } from '../domains/domains.tsx';
import { NoticeBoxes, readNoticeKinds } from '../kit/field.tsx';
import {
  type DoneTexts,
  doneIn,
  type FormRefusal,
  forAccount,
  formReply,
  LanguageOptions,
  PageHead,
} from '../kit/form-page.tsx';
import { clearLanguageCookie, languageCookie } from '../kit/language.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, seeOther } from '../kit/page.ts';
import { Icon, type IconName } from '../kit/parts.tsx';
import type { RouteName } from '../kit/routes.ts';
import { createDeletePages } from './delete.tsx';
import type { AccountPageDeps } from './form.tsx';
import { createForgottenPages, createPasswordPages } from './password.tsx';
import { createRecentPages } from './recent.tsx';
import { createLogInPages, createSessionPages } from './sessions.tsx';
import { createSignUpPages } from './sign-up.tsx';
import { createTokenPages } from './tokens.tsx';

export function createAccountPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'account',
      get: forAccount((request, signedIn) => showAccount(request, signedIn, deps, null)),
      post: forAccount(
        (request, signedIn) => setLanguage(request, signedIn, deps),
        async (request, signedIn, refusal) => showAccount(request, signedIn, deps, refusal),
      ),
    },
    {
      name: 'notices',
      get: forAccount(({ frame }) => seeOther(frame.href('account'))),
      post: forAccount(
        (request, signedIn) => setNotices(request, signedIn, deps),
        async (request, signedIn, refusal) => {
          const kinds = readNoticeKinds(await request.form());
          return showAccount(request, signedIn, deps, refusal, kinds ?? signedIn.caller.account.notify);
        },
      ),
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
  language: ['account.languageSaved'],
  notices: ['notices.saved'],
};

const planNames: Readonly<Record<PlanName, MessageKey>> = {
  anonymous: 'account.planBasic',
  basic: 'account.planBasic',
  identity: 'account.planIdentity',
};

interface Link {
  readonly to: RouteName;
  readonly icon: IconName;
  readonly label: MessageKey;
  readonly hint: MessageKey;
}

const links: readonly Link[] = [
  { to: 'recent', icon: 'clock', label: 'account.recent', hint: 'account.recentHint' },
  { to: 'domains', icon: 'link', label: 'account.domainsLink', hint: 'account.domainsHint' },
  { to: 'tokens', icon: 'key', label: 'account.tokensLink', hint: 'account.tokensHint' },
  { to: 'sessions', icon: 'globe', label: 'account.sessionsLink', hint: 'account.sessionsHint' },
  { to: 'password', icon: 'lock', label: 'account.passwordLink', hint: 'account.passwordHint' },
  { to: 'deleteAccount', icon: 'trash', label: 'account.deleteLink', hint: 'account.deleteHint' },
];

interface AccountProps {
  readonly frame: Frame;
  readonly account: Account;
  readonly plan: Plan;
  readonly notify: readonly NoticeKind[];
  readonly hasDomains: boolean;
  readonly done: readonly string[];
  readonly refusal: FormRefusal | null;
}

const AccountPage: FC<AccountProps> = (props) => {
  const { frame, account, plan, notify, hasDomains, done, refusal } = props;
  const { say } = frame.words;
  const shownLinks = links.filter(({ to }) => to !== 'domains' || hasDomains);
  return (
    <Page frame={frame} title={say('account.title')}>
      <PageHead {...{ frame, done, refusal }} title={say('account.title')} />
      <Facts frame={frame} account={account} plan={plan} />
      <LanguageForm frame={frame} chosen={account.locale} />
      <NoticesForm frame={frame} ticked={notify} />
      <h2 class="large">{say('account.accessTitle')}</h2>
      <ul class="ways">
        {shownLinks.map(({ to, icon, label, hint }) => (
          <li>
            <Icon name={icon} />
            <div>
              <a href={frame.href(to)}>{say(label)}</a>
              <p>{say(hint)}</p>
            </div>
          </li>
        ))}
      </ul>
    </Page>
  );
};

const Facts: FC<Pick<AccountProps, 'frame' | 'account' | 'plan'>> = ({ frame, account, plan }) => {
  const { say, duration, bytes } = frame.words;
  const facts: readonly (readonly [MessageKey, string])[] = [
    ['account.address', account.username],
    ['account.plan', say(planNames[account.plan])],
    ['account.largest', bytes(plan.maxValueBytes)],
    ['account.largestSealed', bytes(plan.maxSealedBytes)],
    ['account.shortest', duration(plan.ttlMinSeconds)],
    ['account.usual', duration(plan.ttlDefaultSeconds)],
    ['account.longest', duration(plan.ttlMaxSeconds)],
  ];
  return (
    <dl>
      {facts.map(([term, text]) => (
        <>
          <dt>{say(term)}</dt>
          <dd>
            <bdi>{text}</bdi>
          </dd>
        </>
      ))}
    </dl>
  );
};

const LanguageForm: FC<{ frame: Frame; chosen: string | null }> = ({ frame, chosen }) => {
  const { say } = frame.words;
  return (
    <PostForm frame={frame} action={frame.href('account')} class="sheet">
      <div class="field">
        <label for="lang">{say('account.language')}</label>
        <select id="lang" name="lang" autocomplete="off" aria-describedby="lang-hint">
          <LanguageOptions frame={frame} chosen={chosen ?? ''} />
        </select>
        <p class="hint" id="lang-hint">
          {say('account.languageHint')}
        </p>
      </div>
      <button class="quiet" type="submit">
        {say('account.languageSubmit')}
      </button>
    </PostForm>
  );
};

const NoticesForm: FC<{ frame: Frame; ticked: readonly NoticeKind[] }> = ({ frame, ticked }) => {
  const { say } = frame.words;
  return (
    <PostForm frame={frame} action={frame.href('notices')} class="sheet">
      <h2>{say('notices.title')}</h2>
      <p>{say('notices.lead')}</p>
      <NoticeBoxes frame={frame} ticked={ticked} wrong={null} />
      <button class="quiet" type="submit">
        {say('notices.submit')}
      </button>
    </PostForm>
  );
};

async function showAccount(
  request: PageRequest,
  { caller }: SignedIn,
  { settings, domains }: AccountPageDeps,
  refusal: FormRefusal | null,
  notify: readonly NoticeKind[] = caller.account.notify,
): Promise<PageReply> {
  const { frame } = request;
  const { account } = caller;
  const plan = settings.plans[account.plan];
  const hasDomains = await mayHaveDomains(domains, caller);
  const done = doneIn(request, doneTexts);
  return formReply(<AccountPage {...{ frame, account, plan, notify, hasDomains, done, refusal }} />, refusal);
}

/** Anything but an offered language follows the browser again, so the cookie goes too. */
async function setLanguage(
  request: PageRequest,
  signedIn: SignedIn,
  deps: AccountPageDeps,
): Promise<PageReply> {
  const asked = (await request.form()).text('lang');
  const locale = deps.settings.locales.find((tag) => tag === asked) ?? null;
  await deps.accounts.setLocale(signedIn, locale);
  const cookie = locale === null ? clearLanguageCookie(deps) : languageCookie(locale, deps);
  return seeOther(`${request.frame.href('account')}?done=language`, [cookie]);
}

async function setNotices(
  request: PageRequest,
  signedIn: SignedIn,
  deps: AccountPageDeps,
): Promise<PageReply> {
  const kinds = readNoticeKinds(await request.form());
  const account = request.frame.href('account');
  if (kinds === null) return seeOther(account);
  await deps.accounts.setNotify(signedIn, kinds);
  return seeOther(`${account}?done=notices`);
}
