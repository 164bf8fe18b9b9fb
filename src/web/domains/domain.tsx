/**
 * A share domain: its state, its DNS records step by step, its check and its removal. The DNS is queried only when a person presses
 * the button. Only a POST removes a domain, after a page that asks. Another account's domain is as unknown as one that does not
 * exist.
 */

import type { FC } from 'hono/jsx';
import type { SignedIn } from '../../core/account.ts';
import type { DomainFinding } from '../../core/share-domain.ts';
import type { DomainService, DomainView } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { DomainState } from '../../protocol/vocabulary.ts';
import { AccountFrame } from '../account/sections.tsx';
import {
  DoneNote,
  type FormRefusal,
  forAccount,
  formReply,
  RefusalSummary,
  refuseForm,
} from '../kit/form-page.tsx';
import { type Frame, renderPage } from '../kit/layout.tsx';
import { ConfirmPage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { Badge, type BadgeKind, Dated, Icon, type IconName } from '../kit/parts.tsx';
import type { Words } from '../kit/words.ts';
import { DomainRecords } from './records.tsx';

export interface DomainDeps {
  readonly domains: DomainService;
}

export function createOneDomainPages(deps: DomainDeps): PageRoute[] {
  return [
    { name: 'domain', get: forAccount((request, signedIn) => showDomain(request, signedIn, deps, null)) },
    {
      name: 'verifyDomain',
      get: forAccount(({ frame, key }) => seeOther(frame.href('domain', key))),
      post: forAccount(
        (request, signedIn) => verify(request, signedIn, deps),
        (request, signedIn, refusal) => showDomain(request, signedIn, deps, refusal),
      ),
    },
    {
      name: 'removeDomain',
      get: forAccount((request, signedIn) => askToRemove(request, signedIn, deps)),
      post: forAccount((request, signedIn) => remove(request, signedIn, deps)),
    },
  ];
}

interface StateWords {
  readonly kind: BadgeKind;
  readonly icon: IconName;
  readonly word: MessageKey;
  readonly lead: MessageKey;
}

const stateWords: Readonly<Record<DomainState, StateWords>> = {
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

export const StateBadge: FC<{ words: Words; state: DomainState }> = ({ words, state }) => {
  const { kind, icon, word } = stateWords[state];
  return (
    <Badge kind={kind} icon={icon}>
      {words.say(word)}
    </Badge>
  );
};

/** A line may break after a dot; the name keeps its order in right-to-left text. */
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
  /** The `done` of the address. */
  readonly done: string | null;
}

const DomainPage: FC<DomainProps> = ({ frame, domain, refusal, done }) => {
  const { words, href } = frame;
  const { say } = words;
  const { state, txtRecord } = domain;
  return (
    <AccountFrame
      frame={frame}
      section="domains"
      isBelow
      hasDomains
      title={domain.unicodeName}
      scripts={['copy', 'time']}
    >
      <p class="back">
        <a href={href('domains')}>{say('domain.back')}</a>
      </p>
      <h1>
        <DomainName name={domain.unicodeName} />
      </h1>
      <p>
        <StateBadge words={words} state={state} />
      </p>
      <Done say={say} done={done} domain={domain} />
      <RefusalSummary frame={frame} refusal={refusal} />
      <p class="lead">{say(txtRecord === null ? 'domain.vouchedLead' : stateWords[state].lead)}</p>
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
    </AccountFrame>
  );
};

/** Anything else that a check found is shown further down. */
const Done: FC<Pick<DomainProps, 'domain' | 'done'> & { say: Words['say'] }> = ({ say, done, domain }) => {
  if (done === 'added') return <DoneNote done={[say('domain.added')]} />;
  const isGood = done === 'checked' && domain.state === 'verified' && domain.finding === null;
  return isGood ? <DoneNote done={[say('domain.checkedGood')]} /> : null;
};

type Shown = Pick<DomainProps, 'frame' | 'domain'>;

const LastCheck: FC<Shown> = ({ frame, domain: { finding, checkedAt, txtRecord } }) => {
  const { say } = frame.words;
  if (txtRecord === null) return null;
  if (checkedAt === null) return <p>{say('domain.unchecked')}</p>;
  return (
    <>
      {finding === null ? null : (
        <p class="note alert" role="status">
          {say(findingTexts[finding])}
        </p>
      )}
      <p class="hint">
        <Dated words={frame.words} say="domain.checkedAt" at={checkedAt} />
      </p>
    </>
  );
};

const Use: FC<Shown> = ({ frame, domain: { name } }) => {
  const { say } = frame.words;
  return (
    <div class="row">
      <a class="button" href={frame.href('domainBrand', name)}>
        {say('domain.toBrand')}
      </a>
      <a class="button quiet" href={`https://${name}${frame.href('home')}`}>
        {say('domain.visit')}
        <Icon name="arrow" />
      </a>
    </div>
  );
};

/** Collapsed once there is nothing left to do. */
const Records: FC<Shown> = ({ frame, domain }) => {
  const { say } = frame.words;
  if (domain.txtRecord === null) return null;
  if (domain.state !== 'verified') {
    return (
      <>
        <h2 class="large">{say('domain.stepsTitle')}</h2>
        <DomainRecords frame={frame} domain={domain} />
      </>
    );
  }
  return (
    <details>
      <summary>{say('domain.recordsTitle')}</summary>
      <DomainRecords frame={frame} domain={domain} />
    </details>
  );
};

/** Both spellings of an internationalised name. */
const Spellings: FC<Shown> = ({ frame, domain: { name, unicodeName } }) =>
  name === unicodeName ? null : (
    <dl>
      <dt>{frame.words.say('domain.asRead')}</dt>
      <dd>
        <bdi>{unicodeName}</bdi>
      </dd>
      <dt>{frame.words.say('domain.asInDns')}</dt>
      <dd>
        <code dir="ltr">{name}</code>
      </dd>
    </dl>
  );

const RemoveDomainPage: FC<{ frame: Frame; domain: DomainView }> = ({ frame, domain }) => {
  const { say } = frame.words;
  const { name, unicodeName } = domain;
  return (
    <ConfirmPage
      frame={frame}
      title={say('domain.removeTitle')}
      lead={say('domain.removeLead', { domain: `\u2068${unicodeName}\u2069` })}
      also={[say('domain.removeLinks')]}
      action={frame.href('removeDomain', name)}
      submit={say('domain.removeSubmit')}
      keep={[frame.href('domain', name), say('domain.removeKeep')]}
    />
  );
};

export function toDomains({ frame }: PageRequest, done: 'removed' | 'gone'): PageReply {
  return seeOther(`${frame.href('domains')}?done=${done}`);
}

async function showDomain(
  request: PageRequest,
  { caller }: SignedIn,
  { domains }: DomainDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { frame, key, query } = request;
  const found = await domains.find(caller, key);
  if (found.outcome === 'unknown') return toDomains(request, 'gone');
  const done = query.get('done');
  return formReply(<DomainPage {...{ frame, domain: found.domain, refusal, done }} />, refusal);
}

async function verify(request: PageRequest, signedIn: SignedIn, deps: DomainDeps): Promise<PageReply> {
  const { frame, key } = request;
  const outcome = await deps.domains.verify(signedIn.caller, key);
  switch (outcome.outcome) {
    case 'checked':
      return seeOther(`${frame.href('domain', outcome.domain.name)}?done=checked`);
    case 'taken':
      return showDomain(request, signedIn, deps, refuseForm(frame.words.say('domains.taken'), 409));
    case 'unknown':
      return toDomains(request, 'gone');
  }
}

async function askToRemove(
  request: PageRequest,
  { caller }: SignedIn,
  { domains }: DomainDeps,
): Promise<PageReply> {
  const found = await domains.find(caller, request.key);
  if (found.outcome === 'unknown') return toDomains(request, 'gone');
  return pageReply(200, renderPage(<RemoveDomainPage frame={request.frame} domain={found.domain} />));
}

async function remove(
  request: PageRequest,
  { caller }: SignedIn,
  { domains }: DomainDeps,
): Promise<PageReply> {
  const { outcome } = await domains.remove(caller, request.key);
  return toDomains(request, outcome === 'removed' ? 'removed' : 'gone');
}
