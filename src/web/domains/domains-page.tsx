/**
 * The share domains of an account.
 *
 * Owns: their list and the form that adds one. Invariant: the form is shown only where the plan allows one more.
 */
import type { FC } from 'hono/jsx';
import type { DomainView } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { BackToAccount, DoneNote, RefusalSummary, TextField } from '../account/account-form.tsx';
import type { FormRefusal } from '../account/form-refusal.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { ShortTime, Table } from '../kit/parts.tsx';
import { DomainName } from './domain-name.tsx';
import { StateBadge } from './domain-state.tsx';

/** What the page may say has just happened, as its address names it. */
export const domainsNews = ['removed', 'gone'] as const;

type DomainsNews = (typeof domainsNews)[number];

const newsTexts: Readonly<Record<DomainsNews, MessageKey>> = {
  removed: 'domains.removed',
  gone: 'domains.gone',
};

export interface DomainsProps {
  readonly frame: Frame;
  readonly domains: readonly DomainView[];
  /** How many the plan allows; 0: none. */
  readonly max: number;
  readonly typed: string;
  readonly refusal: FormRefusal | null;
  readonly news: DomainsNews | null;
}

export const DomainsPage: FC<DomainsProps> = (props) => {
  const { frame, domains, max, refusal, news } = props;
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('domains.title')} scripts={['time']}>
      <h1>{say('domains.title')}</h1>
      <p class="lead">{say('domains.lead')}</p>
      {news === null ? null : <DoneNote>{say(newsTexts[news])}</DoneNote>}
      <RefusalSummary frame={frame} refusal={refusal} />
      {domains.length === 0 ? (
        <p>{say(max === 0 ? 'domains.planRequired' : 'domains.none')}</p>
      ) : (
        <Table
          caption={say('domains.listTitle')}
          captionIsHidden
          columns={[say('domains.name'), say('domains.state'), say('domains.added')]}
          rows={domains.map((domain) => rowOf(frame, domain))}
        />
      )}
      <AddForm {...props} />
      <BackToAccount frame={frame} />
    </Page>
  );
};

function rowOf({ words, href }: Frame, { name, unicodeName, state, createdAt }: DomainView) {
  return [
    <a href={href('domain', name)}>
      <DomainName name={unicodeName} />
    </a>,
    <StateBadge words={words} state={state} />,
    <ShortTime words={words} at={createdAt} />,
  ];
}

const AddForm: FC<DomainsProps> = ({ frame, domains, max, typed, refusal }) => {
  const { say } = frame.words;
  if (max === 0) return null;
  if (domains.length >= max && refusal === null) return <p>{say('domains.tooMany', { count: max })}</p>;
  return (
    <PostForm frame={frame} action={frame.href('domains')} class="sheet">
      <h2 class="large">{say('domains.addTitle')}</h2>
      <TextField
        name="domain"
        label={say('domains.name')}
        hint={say('domains.nameHint')}
        type="text"
        autocomplete="off"
        value={typed}
        refusal={refusal}
      />
      <button type="submit">{say('domains.submit')}</button>
    </PostForm>
  );
};
