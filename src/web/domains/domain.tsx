/**
 * A share domain: state, DNS records step by step, check and removal. Only pressing the button queries the DNS, and only a POST removes the
 * domain, after a confirmation page. Another account's domain is treated as unknown.
 */
import type { FC } from 'hono/jsx';
import type { DomainFinding } from '../../core/share-domain.ts';
import type { DomainService, DomainView } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { DomainState } from '../../protocol/vocabulary.ts';
import { AccountPage } from '../account/sections.tsx';
import {
  type AccountRequest,
  DoneNote,
  type FormRefusal,
  forAccount,
  formReply,
  RefusalSummary,
  refuseForm,
} from '../kit/form-page.tsx';
import type { Messages } from '../kit/language.ts';
import type { Frame } from '../kit/layout.tsx';
import { ConfirmPage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { Badge, type BadgeKind, Dated, Icon, type IconName } from '../kit/parts.tsx';
import { DomainRecords } from './records.tsx';

export interface DomainDeps {
  readonly domains: DomainService;
}

export function createOneDomainPages(deps: DomainDeps): PageRoute[] {
  return [
    { name: 'domain', get: forAccount(deps, showDomain) },
    {
      name: 'verifyDomain',
      get: forAccount(deps, ({ frame, key }) => seeOther(frame.href('domain', key))),
      post: forAccount(deps, verify, showDomain),
    },
    { name: 'removeDomain', get: forAccount(deps, askToRemove), post: forAccount(deps, remove) },
  ];
}

interface StateTexts {
  readonly kind: BadgeKind;
  readonly icon: IconName;
  readonly word: MessageKey;
  readonly lead: MessageKey;
}

const stateTexts: Readonly<Record<DomainState, StateTexts>> = {
  unverified: { kind: 'waiting', icon: 'clock', word: 'domain.unverified', lead: 'domain.unverifiedLead' },
  pending: { kind: 'waiting', icon: 'clock', word: 'domain.pending', lead: 'domain.pendingLead' },
  verified: { kind: 'good', icon: 'check', word: 'domain.verified', lead: 'domain.verifiedLead' },
  lost: { kind: 'bad', icon: 'alert', word: 'domain.lost', lead: 'domain.lostLead' },
};

const findingTexts: Readonly<Record<DomainFinding, MessageKey>> = {
  txt_missing: 'domain.txtMissing',
  txt_differs: 'domain.txtDiffers',
  not_pointing: 'domain.notPointing',
  dns_failed: 'domain.dnsFailed',
};

export const StateBadge: FC<{ messages: Messages; state: DomainState }> = ({ messages, state }) => {
  const { kind, icon, word } = stateTexts[state];
  return (
    <Badge kind={kind} icon={icon}>
      {messages.say(word)}
    </Badge>
  );
};

/** A domain name that may break after a dot and keeps its order in right-to-left text. */
export const DomainName: FC<{ name: string }> = ({ name }) => (
  <bdi>
    {name.split('.').map((label, at) => (
      <>
        {at === 0 ? null : '.'}
        {at === 0 ? null : <wbr />}
        {label}
      </>
    ))}
  </bdi>
);

interface DomainProps {
  readonly frame: Frame;
  readonly domain: DomainView;
  readonly refusal: FormRefusal | null;
  readonly done: string | null;
}

const DomainPage: FC<DomainProps> = ({ frame, domain, refusal, done }) => {
  const { messages, href } = frame;
  const { say } = messages;
  const { state, txtRecord } = domain;
  return (
    <AccountPage
      frame={frame}
      section="domains"
      isBelow
      hasDomains
      back={[href('domains'), say('domain.back')]}
      title={domain.unicodeName}
      hasOwnHead
      scripts={['copy', 'time']}
    >
      <h1>
        <DomainName name={domain.unicodeName} />
      </h1>
      <p>
        <StateBadge messages={messages} state={state} />
      </p>
      <Done say={say} done={done} domain={domain} />
      <RefusalSummary frame={frame} refusal={refusal} />
      <p class="lead">{say(txtRecord === null ? 'domain.vouchedLead' : stateTexts[state].lead)}</p>
      <LastCheck frame={frame} domain={domain} />
      {state === 'verified' ? <Use frame={frame} domain={domain} /> : null}
      <Records frame={frame} domain={domain} />
      <Spellings frame={frame} domain={domain} />
      <p class="removal">
        <a class="button quiet small" href={href('removeDomain', domain.name)}>
          <Icon name="trash" />
          {say('domain.remove')}
        </a>
      </p>
    </AccountPage>
  );
};

const Done: FC<Pick<DomainProps, 'domain' | 'done'> & { say: Messages['say'] }> = ({ say, done, domain }) => {
  if (done === 'added') return <DoneNote done={[say('domain.added')]} />;
  const isGood = done === 'checked' && domain.state === 'verified' && domain.finding === null;
  return isGood ? <DoneNote done={[say('domain.checkedGood')]} /> : null;
};

type Shown = Pick<DomainProps, 'frame' | 'domain'>;

const LastCheck: FC<Shown> = ({ frame, domain: { finding, checkedAt, txtRecord } }) => {
  if (txtRecord === null) return null;
  if (checkedAt === null) return <p>{frame.say('domain.unchecked')}</p>;
  return (
    <>
      {finding === null ? null : (
        <p class="note alert" role="status">
          {frame.say(findingTexts[finding])}
        </p>
      )}
      <p class="hint">
        <Dated messages={frame.messages} say="domain.checkedAt" at={checkedAt} />
      </p>
    </>
  );
};

const Use: FC<Shown> = ({ frame, domain: { name } }) => (
  <div class="row">
    <a class="button" href={frame.href('domainBrand', name)}>
      {frame.say('domain.toBrand')}
    </a>
    <a class="button quiet" href={`https://${name}${frame.href('home')}`}>
      {frame.say('domain.visit')}
      <Icon name="arrow" />
    </a>
  </div>
);

const Records: FC<Shown> = ({ frame, domain }) => {
  if (domain.txtRecord === null) return null;
  if (domain.state !== 'verified') {
    return (
      <>
        <h2 class="large">{frame.say('domain.stepsTitle')}</h2>
        <DomainRecords frame={frame} domain={domain} />
      </>
    );
  }
  return (
    <details>
      <summary>{frame.say('domain.recordsTitle')}</summary>
      <DomainRecords frame={frame} domain={domain} />
    </details>
  );
};

const Spellings: FC<Shown> = ({ frame, domain: { name, unicodeName } }) =>
  name === unicodeName ? null : (
    <dl>
      <dt>{frame.say('domain.asRead')}</dt>
      <dd>
        <bdi>{unicodeName}</bdi>
      </dd>
      <dt>{frame.say('domain.asInDns')}</dt>
      <dd>
        <code dir="ltr">{name}</code>
      </dd>
    </dl>
  );

const RemoveDomainPage: FC<{ frame: Frame; domain: DomainView }> = ({ frame, domain }) => {
  const { name, unicodeName } = domain;
  return (
    <ConfirmPage
      frame={frame}
      title={frame.say('domain.removeTitle')}
      lead={frame.say('domain.removeLead', { domain: `\u2068${unicodeName}\u2069` })}
      also={[frame.say('domain.removeLinks')]}
      action={frame.href('removeDomain', name)}
      submit={frame.say('domain.removeSubmit')}
      keep={[frame.href('domain', name), frame.say('domain.removeKeep')]}
    />
  );
};

export function toDomains({ frame }: PageRequest, done: 'removed' | 'gone'): PageReply {
  return seeOther(`${frame.href('domains')}?done=${done}`);
}

export function findDomain({ key, signedIn }: AccountRequest, { domains }: DomainDeps) {
  return domains.find(signedIn.caller, key);
}

async function showDomain(
  request: AccountRequest,
  deps: DomainDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { frame, query } = request;
  const found = await findDomain(request, deps);
  if (found.outcome === 'unknown') return toDomains(request, 'gone');
  const done = query.get('done');
  return formReply(<DomainPage {...{ frame, domain: found.domain, refusal, done }} />, refusal);
}

async function verify(request: AccountRequest, deps: DomainDeps): Promise<PageReply> {
  const { frame, key, signedIn } = request;
  const outcome = await deps.domains.verify(signedIn.caller, key);
  switch (outcome.outcome) {
    case 'checked':
      return seeOther(`${frame.href('domain', outcome.domain.name)}?done=checked`);
    case 'taken':
      return showDomain(request, deps, refuseForm(frame.say('domains.taken'), 409));
    case 'unknown':
      return toDomains(request, 'gone');
  }
}

async function askToRemove(request: AccountRequest, deps: DomainDeps): Promise<PageReply> {
  const found = await findDomain(request, deps);
  if (found.outcome === 'unknown') return toDomains(request, 'gone');
  return pageReply(200, <RemoveDomainPage frame={request.frame} domain={found.domain} />);
}

async function remove(request: AccountRequest, { domains }: DomainDeps): Promise<PageReply> {
  const { outcome } = await domains.remove(request.signedIn.caller, request.key);
  return toDomains(request, outcome === 'removed' ? 'removed' : 'gone');
}
