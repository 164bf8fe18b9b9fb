/**
 * The receipts of a value that was shared with several people, on one page, whose address holds their keys: who has opened their link and,
 * right after creation, all links, to copy or save. Like a receipt, it shows the links once.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { linesOf, splitName, tableAddress } from '../client/several-text.ts';
import { Day } from '../kit/day.tsx';
import { errorReply } from '../kit/error-page.tsx';
import { Item, Items } from '../kit/items.tsx';
import { type Frame, Page } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from '../kit/page.ts';
import { CopyButton, Icon } from '../kit/parts.tsx';
import { Copied, Passphrase } from './link-actions.tsx';
import { maxPeople } from './people.ts';
import type { ReceiptDeps } from './receipt.tsx';
import { linkOf, partLeft } from './receipt-life.ts';
import { deliveryTexts } from './receipt-mail.tsx';
import { Head, Onward } from './receipt-page.tsx';

const waiting = { new: 'waiting', viewed: 'waiting' } as const;
const days = { ...waiting, received: 'opened', burned: 'burned', expired: 'expired' } as const;

export function createSeveralPages(deps: ReceiptDeps): PageRoute[] {
  return [{ name: 'several', get: { limit: 'manage', handle: (request) => show(request, deps) } }];
}

async function show({ frame, key, caller, cookies }: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const find = (metadataKey: string) =>
    deps.service.findReceipt({ metadataKey, authority: 'creator' }, caller);
  const found = await Promise.all(key.split('.').slice(0, maxPeople).map(find));
  const receipts = found.flatMap((each) => (each.outcome === 'found' ? [each.receipt] : []));
  const first = receipts.find(({ secretKey }) => secretKey !== null) ?? receipts[0];
  if (first === undefined) return errorReply(frame, { problem: 'unknown_receipt' });
  // What the server mails is not for this person to send.
  const isNew = deps.justCreated.isIn(cookies) && first.delivery === null;
  const linkFor = (each: ReceiptView) => (isNew && !each.sealed ? (linkOf(each, deps.links) ?? '') : '');
  const people = receipts.map((receipt) => {
    const name = receipt.memo || receipt.recipient || frame.say('recent.untitled');
    return { receipt, name, link: linkFor(receipt) };
  });
  const reply = pageReply(200, <SeveralPage {...{ frame, people, first, isNew }} />);
  return isNew ? { ...reply, cookies: [deps.justCreated.clear(frame.href('several', key))] } : reply;
}

interface SeveralProps {
  readonly frame: Frame;
  /** Without links if they must not be shown, or if only the script knows them. */
  readonly people: readonly { readonly receipt: ReceiptView; readonly name: string; readonly link: string }[];
  /** The first that waits, or the first. */
  readonly first: ReceiptView;
  readonly isNew: boolean;
}

const SeveralPage: FC<SeveralProps> = (props) => {
  const { frame, people, first, isNew } = props;
  const { say } = frame;
  const opened = people.filter(({ receipt }) => receipt.state === 'received').length;
  const counts = { count: people.length, opened };
  const title = isNew ? 'several.ready' : 'several.opened';
  const texts = { day: days[first.state], title, counts, lead: 'several.lead' } as const;
  return (
    <Page
      frame={frame}
      title={say(title, counts)}
      scripts={['several', 'time']}
      styles={['receipt', 'account']}
    >
      <div class="receipt">
        <div class="sheet">
          <Head frame={frame} receipt={{ ...first, memo: '' }} texts={texts} />
          {first.secretKey === null ? null : (
            <div class="hand-over">
              <AllLinks {...props} />
              {first.hasPassphrase ? <Passphrase frame={frame} /> : null}
              <Copied frame={frame} />
            </div>
          )}
        </div>
        <Items label={say('several.title')}>
          {people.map((person, at) => (
            <Row frame={frame} at={at} {...person} />
          ))}
        </Items>
        <Onward frame={frame} receipt={first} />
      </div>
    </Page>
  );
};

/** Hidden without links; the script fills in those that only this browser knows. */
const AllLinks: FC<SeveralProps> = ({ frame, people, first }) => {
  const { say, locale } = frame.messages;
  const shown = people.filter(({ link }) => link !== '');
  const titles = [say('several.name'), say('signUp.email'), say('several.link')];
  const table = { href: tableAddress(titles, shown, locale), 'data-titles': JSON.stringify(titles) };
  return (
    <>
      <div hidden={shown.length === 0}>
        <div class="row">
          <CopyButton frame={frame} target="all" say="several.copy" />
          <a class="button quiet" id="table" download="links.csv" {...table}>
            <Icon name="download" />
            {say('several.save')}
          </a>
        </div>
        {first.sealed ? <p class="hint">{say('several.copyNow')}</p> : null}
        <label for="all">{say('several.all')}</label>
        <textarea id="all" readonly autocomplete="off" spellcheck={false} dir="auto">
          {linesOf(shown)}
        </textarea>
      </div>
      {shown.length > 0 ? null : (
        <p id="links-gone">{say(first.sealed ? 'several.gone' : 'several.again')}</p>
      )}
    </>
  );
};

type RowProps = SeveralProps['people'][number] & { readonly frame: Frame; readonly at: number };

/** The link is only for the button: all of them are shown together above. */
const Row: FC<RowProps> = ({ frame, receipt, name, link, at }) => {
  const { say } = frame;
  const day = days[receipt.state];
  const [shown, address] = splitName(name);
  const state = <span class={`fate-${day}`}>{say(`recent.${day}`)}</span>;
  const mail = receipt.delivery === null ? [] : [say(deliveryTexts(receipt.delivery).label)];
  const [target, id] = [`link-${at}`, `copy-${at}`];
  return (
    <Item
      picture={<Day state={day} part={partLeft(receipt)} isSmall />}
      name={
        <a class="item-link" id={`person-${at}`} href={frame.href('receipt', receipt.metadataKey)} dir="auto">
          {shown}
        </a>
      }
      notes={[[state, ...mail], ...(address === '' ? [] : [[<bdi>{address}</bdi>]])]}
      actions={
        <span class="person-link" hidden={link === ''}>
          <code id={target} class="visually-hidden" aria-hidden="true" data-name={name}>
            {link}
          </code>
          <CopyButton {...{ frame, target, id }} aria-labelledby={`${id} person-${at}`} class="quiet small" />
        </span>
      }
    />
  );
};
