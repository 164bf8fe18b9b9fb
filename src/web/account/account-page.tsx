/**
 * An account, to its owner.
 *
 * Owns: what is shown of it, the choices of its language and its mails, and the ways to everything else of it.
 */
import type { FC } from 'hono/jsx';
import type { Account, NoticeKind } from '../../core/accounts/accounts.ts';
import type { Plan, PlanName } from '../../core/plans.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Icon, type IconName } from '../kit/parts.tsx';
import type { RouteName } from '../routes.ts';
import { DoneNote, RefusalSummary } from './account-form.tsx';
import { NoticesForm } from './account-notices.tsx';
import type { FormRefusal } from './form-refusal.ts';

/** What the page may say has just happened, as its address names it. */
export const accountNews = [
  'signed-up',
  'password',
  'password-tokens',
  'reset-kept',
  'reset-kept-tokens',
  'reset-lost',
  'reset-lost-tokens',
  'language',
  'notices',
] as const;

type AccountNews = (typeof accountNews)[number];

const newsTexts: Readonly<Record<AccountNews, MessageKey>> = {
  'signed-up': 'account.welcome',
  password: 'account.passwordChanged',
  'password-tokens': 'account.passwordChanged',
  'reset-kept': 'account.resetKept',
  'reset-kept-tokens': 'account.resetKept',
  'reset-lost': 'account.resetLost',
  'reset-lost-tokens': 'account.resetLost',
  language: 'account.languageSaved',
  notices: 'notices.saved',
};

const planNames: Readonly<Record<PlanName, MessageKey>> = {
  anonymous: 'account.planBasic',
  basic: 'account.planBasic',
  identity: 'account.planIdentity',
};

interface Way {
  readonly to: RouteName;
  readonly icon: IconName;
  readonly label: MessageKey;
  readonly hint: MessageKey;
}

const domainsWay: Way = {
  to: 'domains',
  icon: 'link',
  label: 'account.domainsLink',
  hint: 'account.domainsHint',
};

const waysFor = (hasDomains: boolean): readonly Way[] => [
  { to: 'recent', icon: 'clock', label: 'account.recent', hint: 'account.recentHint' },
  ...(hasDomains ? [domainsWay] : []),
  { to: 'tokens', icon: 'key', label: 'account.tokensLink', hint: 'account.tokensHint' },
  { to: 'sessions', icon: 'globe', label: 'account.sessionsLink', hint: 'account.sessionsHint' },
  { to: 'password', icon: 'lock', label: 'account.passwordLink', hint: 'account.passwordHint' },
  { to: 'deleteAccount', icon: 'trash', label: 'account.deleteLink', hint: 'account.deleteHint' },
];

export interface AccountProps {
  readonly frame: Frame;
  readonly account: Account;
  readonly plan: Plan;
  /** Which mails about its secrets are ticked. */
  readonly notify: readonly NoticeKind[];
  /** Whether share domains are something of this account. */
  readonly hasDomains: boolean;
  readonly news: AccountNews | null;
  readonly refusal: FormRefusal | null;
}

export const AccountPage: FC<AccountProps> = (props) => {
  const { frame, account, plan, notify, hasDomains, news, refusal } = props;
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('account.title')}>
      <h1>{say('account.title')}</h1>
      {news === null ? null : <News frame={frame} news={news} />}
      <RefusalSummary frame={frame} refusal={refusal} />
      <Facts frame={frame} account={account} plan={plan} />
      <LanguageForm frame={frame} chosen={account.locale} />
      <NoticesForm frame={frame} ticked={notify} />
      <h2 class="large">{say('account.accessTitle')}</h2>
      <ul class="ways">
        {waysFor(hasDomains).map(({ to, icon, label, hint }) => (
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

const News: FC<{ frame: Frame; news: AccountNews }> = ({ frame, news }) => {
  const { say } = frame.words;
  const also = news.endsWith('-tokens') ? say('account.tokensRevoked') : null;
  return <DoneNote also={also}>{say(newsTexts[news])}</DoneNote>;
};

const Facts: FC<Pick<AccountProps, 'frame' | 'account' | 'plan'>> = ({ frame, account, plan }) => {
  const { say, duration, bytes } = frame.words;
  const facts: readonly (readonly [MessageKey, string])[] = [
    ['account.address', account.username],
    ['account.plan', say(planNames[account.plan])],
    ['account.largest', bytes(plan.maxValueBytes)],
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
  const { say, languageName } = frame.words;
  return (
    <PostForm frame={frame} action={frame.href('account')} class="sheet">
      <div class="field">
        <label for="lang">{say('account.language')}</label>
        <select id="lang" name="lang" autocomplete="off" aria-describedby="lang-hint">
          <option value="" selected={chosen === null}>
            {say('account.languageAsked')}
          </option>
          {frame.locales.map((locale) => (
            <option value={locale} lang={locale} selected={locale === chosen}>
              {languageName(locale)}
            </option>
          ))}
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
