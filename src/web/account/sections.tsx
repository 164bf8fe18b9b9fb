/** The sections of an account, shown on all its pages. */
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { AccountCaller } from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
import type { DomainService, DomainView } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { ScriptName } from '../assets/assets.ts';
import {
  type AccountRequest,
  type DoneTexts,
  doneIn,
  type FormRefusal,
  PageHead,
  type PageHeadProps,
} from '../kit/form-page.tsx';
import { type Frame, Page } from '../kit/layout.tsx';
import type { Way } from '../kit/message-page.tsx';
import { Icon, type IconName } from '../kit/parts.tsx';

const sections = {
  account: { icon: 'user', label: 'account.profile' },
  tokens: { icon: 'key', label: 'account.tokensLink' },
  sessions: { icon: 'globe', label: 'account.sessionsLink' },
  domains: { icon: 'link', label: 'account.domainsLink' },
  password: { icon: 'lock', label: 'account.passwordLink' },
} as const satisfies Readonly<Record<string, { icon: IconName; label: MessageKey }>>;

export type Section = keyof typeof sections;

interface SectionProps {
  readonly frame: Frame;
  readonly section: Section;
  readonly isBelow?: boolean;
  readonly hasDomains: boolean;
}

interface AccountPageProps extends SectionProps, PageHeadProps {
  readonly scripts?: readonly ScriptName[];
  /** To the page that it is below. */
  readonly back?: Way;
  /** Its children have the title. */
  readonly hasOwnHead?: boolean;
}

/** What all pages of an account have. @param done what the address may say was done */
export async function headFor(
  request: AccountRequest,
  { domains }: { readonly domains: Domains },
  refusal: FormRefusal | null = null,
  done: DoneTexts = {},
) {
  const hasDomains = await mayHaveDomains(domains, request.signedIn.caller);
  return { frame: request.frame, hasDomains, refusal, done: doneIn(request, done) };
}
export type AccountHead = Awaited<ReturnType<typeof headFor>>;

export const AccountPage: FC<PropsWithChildren<AccountPageProps>> = (props) => {
  const { section, isBelow = false, hasDomains, back, hasOwnHead, scripts = [], children, ...head } = props;
  const { frame, title } = head;
  return (
    <Page frame={frame} title={title} scripts={scripts} styles={['account']}>
      <div class="account">
        <SectionNav {...{ frame, section, isBelow, hasDomains }} />
        <div class="account-part">
          {back === undefined ? null : (
            <p class="back">
              <a href={back[0]}>{back[1]}</a>
            </p>
          )}
          {hasOwnHead === true ? null : <PageHead {...head} />}
          {children}
        </div>
      </div>
    </Page>
  );
};

const SectionNav: FC<SectionProps> = ({ frame: { say, href }, section, isBelow, hasDomains }) => (
  <nav class="sections" aria-label={say('account.nav')}>
    {(Object.keys(sections) as Section[])
      .filter((name) => name !== 'domains' || hasDomains)
      .map((name) => (
        <a href={href(name)} aria-current={name === section ? (isBelow ? 'true' : 'page') : undefined}>
          <Icon name={sections[name].icon} />
          {say(sections[name].label)}
        </a>
      ))}
  </nav>
);

type Domains = Pick<DomainService, 'list' | 'maxDomains'>;

/** Checks whether the account has share domains or may add some. If the store is unavailable, only its plan decides. */
async function mayHaveDomains(domains: Domains, caller: AccountCaller): Promise<boolean> {
  return domains.maxDomains(caller) > 0 || (await domainsOrNone(domains, caller)).length > 0;
}

/** Returns no domains if the store is unavailable, so that a refused form can still be shown. */
export async function domainsOrNone(
  domains: Pick<Domains, 'list'>,
  caller: AccountCaller,
): Promise<readonly DomainView[]> {
  try {
    return await domains.list(caller);
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}
