/** An account's share domains, with a form to add one if the plan allows. */
import type { FC } from 'hono/jsx';
import type { DomainNameProblem } from '../../core/share-domain.ts';
import type { AddDomainOutcome, DomainView } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { AccountPage, domainsOrNone } from '../account/sections.tsx';
import {
  type AccountRequest,
  type DoneTexts,
  doneIn,
  type FormRefusal,
  forAccount,
  formReply,
  refuseField,
  refuseForm,
  TextField,
} from '../kit/form-page.tsx';
import { Item, Items } from '../kit/items.tsx';
import type { Messages } from '../kit/language.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { type PageReply, type PageRoute, seeOther } from '../kit/page.ts';
import { Ago, Dated, Icon } from '../kit/parts.tsx';
import { createBrandPages } from './brand.tsx';
import { createOneDomainPages, type DomainDeps, DomainName, StateBadge } from './domain.tsx';

export function createDomainPages(deps: DomainDeps): PageRoute[] {
  return [
    {
      name: 'domains',
      get: forAccount(deps, showDomains),
      post: forAccount(deps, add, showDomains),
    },
    ...createOneDomainPages(deps),
    ...createBrandPages(deps),
  ];
}

const doneTexts: DoneTexts = { removed: ['domains.removed'], gone: ['domains.gone'] };

interface DomainsProps {
  readonly frame: Frame;
  readonly domains: readonly DomainView[];
  readonly max: number;
  readonly typed: string;
  readonly refusal: FormRefusal | null;
  readonly done: readonly string[];
}

const DomainsPage: FC<DomainsProps> = (props) => {
  const { frame, domains, max, refusal, done } = props;
  return (
    <AccountPage
      {...{ frame, done, refusal }}
      section="domains"
      hasDomains
      title={frame.say('domains.title')}
      lead={frame.say('domains.lead')}
      scripts={['time']}
    >
      {domains.length === 0 ? (
        <p>{frame.say(max === 0 ? 'domains.planRequired' : 'domains.none')}</p>
      ) : (
        <Items label={frame.say('domains.listTitle')}>
          {domains.map((domain) => (
            <Row frame={frame} domain={domain} />
          ))}
        </Items>
      )}
      <AddForm {...props} />
    </AccountPage>
  );
};

const Row: FC<{ frame: Frame; domain: DomainView }> = ({ frame, domain }) => {
  const { messages, href } = frame;
  const { name, unicodeName, state, createdAt } = domain;
  return (
    <Item
      picture={<Icon name="link" />}
      name={
        <a class="item-link" href={href('domain', name)}>
          <DomainName name={unicodeName} />
        </a>
      }
      notes={[
        [
          <StateBadge messages={messages} state={state} />,
          <Dated messages={messages} say="domains.addedAt" at={createdAt} as={Ago} />,
        ],
      ]}
    />
  );
};

const AddForm: FC<DomainsProps> = ({ frame, domains, max, typed, refusal }) => {
  if (max === 0) return null;
  if (domains.length >= max && refusal === null) return <p>{frame.say('domains.tooMany', { count: max })}</p>;
  return (
    <PostForm frame={frame} action={frame.href('domains')} class="sheet">
      <h2 class="large">{frame.say('domains.addTitle')}</h2>
      <TextField
        name="domain"
        label={frame.say('domains.name')}
        hint={frame.say('domains.nameHint')}
        value={typed}
        refusal={refusal}
      />
      <button type="submit">{frame.say('domains.submit')}</button>
    </PostForm>
  );
};

async function showDomains(
  request: AccountRequest,
  { domains: service }: DomainDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { frame, form, signedIn } = request;
  const { caller } = signedIn;
  const domains = refusal === null ? await service.list(caller) : await domainsOrNone(service, caller);
  const typed = refusal === null ? '' : (await form()).text('domain');
  const [max, done] = [service.maxDomains(caller), doneIn(request, doneTexts)];
  return formReply(<DomainsPage {...{ frame, domains, max, typed, refusal, done }} />, refusal);
}

async function add(request: AccountRequest, deps: DomainDeps): Promise<PageReply> {
  const { frame, signedIn } = request;
  const typed = (await request.form()).text('domain');
  const outcome = await deps.domains.add(signedIn.caller, typed.trim());
  if (outcome.outcome === 'added') return seeOther(`${frame.href('domain', outcome.domain.name)}?done=added`);
  return showDomains(request, deps, refusalOf(outcome, frame.messages));
}

const nameProblems: Readonly<Record<DomainNameProblem, MessageKey>> = {
  missing: 'domains.nameMissing',
  malformed: 'domains.nameMalformed',
  ip_address: 'domains.nameIsAddress',
  not_public: 'domains.nameNotPublic',
  public_suffix: 'domains.nameIsSuffix',
  own_host: 'domains.nameIsOurs',
};

function refusalOf(refused: Exclude<AddDomainOutcome, { outcome: 'added' }>, { say }: Messages): FormRefusal {
  switch (refused.outcome) {
    case 'invalid_domain':
      return refuseField('domain', say(nameProblems[refused.problem]));
    case 'exists':
      return refuseField('domain', say('domains.exists'), 409);
    case 'taken':
      return refuseField('domain', say('domains.taken'), 409);
    case 'too_many':
      return refuseForm(say('domains.tooMany', { count: refused.max }), 409);
    case 'plan_required':
      return refuseForm(say('domains.planRequired'), 403);
  }
}
