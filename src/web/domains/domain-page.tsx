/**
 * One share domain, to its owner.
 *
 * Owns: how it stands, what to do next and where the rest of it is. Invariant: the page is complete in every state and says
 * the one next step first.
 */
import type { FC } from 'hono/jsx';
import type { DomainView } from '../../core/share-domains/service.ts';
import { DoneNote, RefusalSummary } from '../account/account-form.tsx';
import type { FormRefusal } from '../account/form-refusal.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { Dated, Icon } from '../kit/parts.tsx';
import type { Words } from '../kit/words.ts';
import { DomainName } from './domain-name.tsx';
import { DomainRecords } from './domain-records.tsx';
import { findingTexts, StateBadge, stateWords } from './domain-state.tsx';

/** What the page may say has just happened, as its address names it. */
export const domainNews = ['added', 'checked'] as const;

type DomainNews = (typeof domainNews)[number];

export interface DomainProps {
  readonly frame: Frame;
  readonly domain: DomainView;
  readonly refusal: FormRefusal | null;
  readonly news: DomainNews | null;
}

export const DomainPage: FC<DomainProps> = ({ frame, domain, refusal, news }) => {
  const { words, href } = frame;
  const { say } = words;
  const { state, txtRecord } = domain;
  return (
    <Page frame={frame} title={domain.unicodeName} scripts={['copy', 'time']}>
      <h1>
        <DomainName name={domain.unicodeName} />
      </h1>
      <p>
        <StateBadge words={words} state={state} />
      </p>
      <News say={say} news={news} domain={domain} />
      <RefusalSummary frame={frame} refusal={refusal} />
      <p class="lead">{say(txtRecord === null ? 'domain.vouchedLead' : stateWords[state].lead)}</p>
      <LastCheck frame={frame} domain={domain} />
      {state === 'verified' ? <Use frame={frame} domain={domain} /> : null}
      <Records frame={frame} domain={domain} />
      <Spellings frame={frame} domain={domain} />
      <p class="onward">
        <a href={href('domains')}>{say('domain.back')}</a>
        <a href={href('removeDomain', domain.name)}>{say('domain.remove')}</a>
      </p>
    </Page>
  );
};

/** What a check found besides stands further down. */
const News: FC<Pick<DomainProps, 'domain' | 'news'> & { say: Words['say'] }> = ({ say, news, domain }) => {
  if (news === 'added') return <DoneNote>{say('domain.added')}</DoneNote>;
  const isGood = news === 'checked' && domain.state === 'verified' && domain.finding === null;
  return isGood ? <DoneNote>{say('domain.checkedGood')}</DoneNote> : null;
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

/** What a domain that works is good for. */
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

/** Folded away where there is nothing to do. */
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

/** Both, where a name has letters that the DNS does not know. */
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
