/**
 * An account's own secrets, newest first, and what can be done with several of them. Search is in the browser, over what is shown
 * (`client/recent.ts`).
 */
import type { FC } from 'hono/jsx';
import { planOf } from '../../core/account.ts';
import type { ReceiptView, RecentOutcome } from '../../core/secrets/outcomes.ts';
import { Day } from '../kit/day.tsx';
import { problemTexts } from '../kit/error-page.tsx';
import { asTyped, Options } from '../kit/field.tsx';
import { type AccountRequest, type DoneTexts, doneIn, forAccount, PageHead } from '../kit/form-page.tsx';
import { Item, Items } from '../kit/items.tsx';
import { formsOf } from '../kit/language.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { ConfirmRow, MessagePage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../kit/page.ts';
import { Button, Dated, Icon, ScriptButton } from '../kit/parts.tsx';
import { offerLater } from '../secrets/receipt-lifetime.tsx';
import { askedIn, type LifetimeOffer, offerOf, secondsOf } from '../secrets/typed.ts';
import type { AccountPageDeps } from './form.tsx';
import {
  addressOf,
  filters,
  isWaiting,
  type Narrowed,
  narrowedIn,
  pageLength,
  Row,
  recentStates,
  selectedName,
  statesIn,
} from './recent-list.tsx';

const doneTexts: DoneTexts = {
  burn: ['recent.doneBurn'],
  lifetime: ['recent.doneLifetime'],
  none: ['recent.doneNone'],
};

export function createRecentPages(deps: AccountPageDeps): PageRoute[] {
  return [
    {
      name: 'recent',
      get: forAccount(deps, showRecent),
      post: forAccount(deps, actOnSelected),
    },
  ];
}

interface RecentProps extends Narrowed {
  readonly frame: Frame;
  readonly receipts: readonly ReceiptView[];
  readonly nextCursor: string | null;
  readonly isLater: boolean;
  readonly done: readonly string[];
  readonly lifetimes: LifetimeOffer;
}

const RecentPage: FC<RecentProps> = (props) => {
  const { frame, receipts, nextCursor, state, at, isLater, done } = props;
  const isEmpty = receipts.length === 0 && nextCursor === null;
  const isUntouched = isEmpty && state === null && at === null && !isLater;
  return (
    <Page frame={frame} title={frame.say('recent.title')} scripts={['time', 'recent']} styles={['account']}>
      <PageHead frame={frame} title={frame.say('recent.title')} lead={frame.say('recent.lead')} done={done} />
      {frame.settings.requests === 'off' ? null : (
        <p>
          <a href={frame.href('ask')}>{frame.say('ask.mine')}</a>
        </p>
      )}
      {isUntouched ? null : <Tools {...props} />}
      {isEmpty ? <Nothing {...props} /> : null}
      {receipts.length === 0 ? null : (
        <>
          <PostForm frame={frame} id="again" action={frame.href('home')} />
          <PostForm frame={frame} action={addressOf(frame, { state, at })} autocomplete="off">
            <Items label={frame.say('recent.title')} isDense>
              {receipts.map((receipt, row) => (
                <Row {...{ frame, receipt }} at={row} mayAct />
              ))}
            </Items>
            {receipts.some(isWaiting) ? <SelectedBar {...props} /> : null}
          </PostForm>
        </>
      )}
      <Paging {...props} />
      <details class="missing">
        <summary>{frame.say('recent.missing')}</summary>
        <p>{frame.say('recent.kept')}</p>
        <p>{frame.say('recent.shorter')}</p>
      </details>
    </Page>
  );
};

const Tools: FC<RecentProps> = (props) => {
  const { frame, receipts } = props;
  const find = frame.say('recent.find');
  return (
    <div class="list-tools">
      <FilterNav {...props} />
      <div class="find" id="find" hidden data-found={formsOf(frame.messages, 'recent.found')}>
        <Icon name="search" />
        <input type="search" autocomplete="off" aria-label={find} placeholder={find} {...asTyped} />
        <p class="hint" role="status" />
      </div>
      {receipts.some(isWaiting) ? (
        <label class="check picking">
          <input type="checkbox" id="picking" autocomplete="off" />
          <span>{frame.say('recent.select')}</span>
        </label>
      ) : null}
    </div>
  );
};

const FilterNav: FC<RecentProps> = ({ frame, state, at }) => {
  const { messages, href } = frame;
  if (at !== null) {
    return (
      <p>
        <Dated messages={messages} say="mail.notice.created" at={at} />{' '}
        <a href={href('recent')}>{frame.say('recent.showAll')}</a>
      </p>
    );
  }
  return (
    <nav class="filter" aria-label={frame.say('recent.filter')}>
      {[null, ...recentStates].map((each) => (
        <a href={addressOf(frame, { state: each })} aria-current={each === state ? 'page' : undefined}>
          {each === null ? frame.say('recent.all') : frame.say(filters[each].label)}
        </a>
      ))}
    </nav>
  );
};

const Nothing: FC<RecentProps> = ({ frame, state, at, isLater }) => {
  if (at !== null) return <p>{frame.say('recent.noneAt')}</p>;
  if (isLater) return <p>{frame.say('recent.endOfList')}</p>;
  if (state !== null) {
    return (
      <p>
        {frame.say(filters[state].none)} <a href={frame.href('recent')}>{frame.say('recent.showAll')}</a>
      </p>
    );
  }
  return (
    <div class="sheet nothing">
      <h2>{frame.say('recent.emptyTitle')}</h2>
      <p>{frame.say('recent.empty')}</p>
      <dl class="fates">
        {recentStates.map((each) => (
          <div>
            <Day state={each} part={0.7} />
            <dt class={`fate-${each}`}>{frame.say(filters[each].label)}</dt>
            <dd>{frame.say(filters[each].means)}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a class="button" href={frame.href('home')}>
          {frame.say('recent.share')}
        </a>
      </p>
    </div>
  );
};

/** Enter in a tick box presses the first button that sends the form, so that is the one that asks first. */
const SelectedBar: FC<RecentProps> = ({ frame, lifetimes }) => {
  const { say, duration } = frame.messages;
  const offered = lifetimes.choices.map((each) => [each, duration(secondsOf(each, lifetimes))] as const);
  return (
    <div class="selected-bar">
      <ScriptButton frame={frame} class="quiet" id="select-all" hidden say="recent.selectAll" />
      <Button frame={frame} class="alarm" name="act" value="burn" say="recent.burn" icon="flame" />
      <span>
        <select name="ttl" aria-label={`${say('share.ttl')} ${say('lifetime.fromNow')}`}>
          <Options offered={offered} chosen={lifetimes.preset} />
        </select>
        <Button frame={frame} class="quiet" name="act" value="lifetime" say="lifetime.save" />
      </span>
    </div>
  );
};

const Paging: FC<RecentProps> = ({ frame, state, at, nextCursor, isLater }) => {
  if (nextCursor === null && !isLater) return null;
  return (
    <div class="row paging">
      {isLater ? (
        <a class="button quiet" href={addressOf(frame, { state, at })}>
          {frame.say('recent.newest')}
        </a>
      ) : null}
      {nextCursor === null ? null : (
        <a class="button quiet" rel="next" href={addressOf(frame, { state, at, cursor: nextCursor })}>
          {frame.say('recent.older')}
        </a>
      )}
    </div>
  );
};

/** Shows the newest page if the cursor was tampered with. */
async function showRecent(
  request: AccountRequest,
  { service, settings }: AccountPageDeps,
): Promise<PageReply> {
  const { frame, query } = request;
  const { caller } = request.signedIn;
  const { state, at } = narrowedIn(request);
  const cursor = query.get('cursor') || null;
  const states = state === null ? null : statesIn(state);
  const input = { limit: pageLength, cursor: null, states, createdAt: at };
  const asked: RecentOutcome = await service.recent({ ...input, cursor }, caller);
  const cursorIsBad = asked.outcome === 'invalid_cursor';
  const found = cursorIsBad ? await service.recent(input, caller) : asked;
  const list = found.outcome === 'listed' ? found : { receipts: [], nextCursor: null };
  const page = (
    <RecentPage
      {...{ frame, state, at, ...list }}
      isLater={cursor !== null && !cursorIsBad}
      done={cursorIsBad ? [frame.say('recent.badCursor')] : doneIn(request, doneTexts)}
      lifetimes={offerOf(planOf(settings.plans, caller))}
    />
  );
  return pageReply(200, page);
}

interface Entry {
  readonly key: string;
  /** `null` if this account has none with this key. */
  readonly receipt: ReceiptView | null;
  /** Why it was not done, if its state does not show that. */
  readonly why: string | null;
}

interface SelectedProps {
  readonly frame: Frame;
  readonly entries: readonly Entry[];
  /** The list's address. */
  readonly list: string;
  readonly isQuestion: boolean;
}

/** Asks before it burns; afterwards, lists what was not done. */
const SelectedPage: FC<SelectedProps> = ({ frame, entries, list, isQuestion }) => (
  <MessagePage
    frame={frame}
    day={null}
    title={frame.say(isQuestion ? 'recent.burnTitle' : 'recent.undoneTitle')}
    lead={frame.say(isQuestion ? 'recent.burnLead' : 'recent.undoneLead')}
    ways={isQuestion ? [] : [[list, frame.say('recent.back')]]}
    scripts={['time']}
    styles={['account']}
  >
    {isQuestion ? (
      <PostForm frame={frame} action={list}>
        {entries.map(({ key }, at) => (
          <input type="hidden" name={selectedName(at)} value={key} />
        ))}
        <input type="hidden" name="sure" value="yes" />
        <ConfirmRow submit={frame.say('recent.burnSubmit')} keep={[list, frame.say('recent.burnKeep')]} />
      </PostForm>
    ) : null}
    <Items label={frame.say('recent.title')} isDense>
      {entries.map(({ receipt, why }, at) =>
        receipt === null ? <Item name={why} notes={[]} /> : <Row {...{ frame, receipt, at, why }} />,
      )}
    </Items>
  </MessagePage>
);

/** Burns several secrets, or changes when they expire: each for itself, as on its receipt's page. */
async function actOnSelected(request: PageRequest, deps: AccountPageDeps): Promise<PageReply> {
  const { frame } = request;
  const form = await request.form();
  const act = form.text('act') === 'lifetime' ? 'lifetime' : form.text('sure') === '' ? 'ask' : 'burn';
  const keys = Array.from({ length: pageLength }, (_, at) => form.text(selectedName(at))).filter(Boolean);
  const undone: Entry[] = [];
  for (const [at, key] of keys.entries()) {
    undone.push(...(await actOn(request, deps, key, act, at > 0)));
  }
  const narrowed = narrowedIn(request);
  const done = keys.length === 0 ? 'none' : act;
  if (undone.length === 0) return seeOther(addressOf(frame, { ...narrowed, done }));
  const isQuestion = act === 'ask';
  const page = <SelectedPage {...{ frame, isQuestion }} entries={undone} list={addressOf(frame, narrowed)} />;
  return pageReply(isQuestion ? 200 : 409, page);
}

/**
 * Returns the entry's current state, or nothing if it was done.
 * @param isAnother counts it as one more request
 */
async function actOn(
  { frame: { messages }, caller, isAbandoned, attempt, form }: PageRequest,
  { service, settings }: AccountPageDeps,
  key: string,
  act: 'ask' | 'burn' | 'lifetime',
  isAnother: boolean,
): Promise<Entry[]> {
  const input = { metadataKey: key, authority: 'creator' } as const;
  const found = await attempt(false, () => service.findReceipt(input, caller));
  if ('problem' in found) return [{ key, receipt: null, why: problemTexts(found, messages).form }];
  if (found.outcome === 'unknown') return [{ key, receipt: null, why: messages.say('recent.unknown') }];
  const { receipt } = found;
  if (act === 'ask') return [{ key, receipt, why: null }];
  const outcome = await attempt(isAnother, async () => {
    if (act === 'burn') return service.burn({ ...input, proof: null, isAbandoned }, caller);
    const offer = offerLater(receipt, planOf(settings.plans, caller));
    const asked = offer === null ? { wrong: null } : askedIn(await form(), offer, messages);
    if ('wrong' in asked) return { outcome: 'kept', why: asked.wrong } as const;
    return service.change({ ...input, memo: undefined, ttlSeconds: asked.seconds }, caller);
  });
  if ('problem' in outcome) return [{ key, receipt, why: problemTexts(outcome, messages).form }];
  if (outcome.outcome === 'burned' || outcome.outcome === 'found') return [];
  return [{ key, receipt, why: null, ...outcome }];
}
