/**
 * The page of an answers link. Everything comes from the link's end: from the address, if it was opened there; from this tab's history entry,
 * right after the request was made; or from local storage, if its owner ticked the box.
 */

import type { WireAnswer } from '../../../sdk/asking.ts';
import { type Asker, unwrap } from '../../../sdk/request.ts';
import { toBase64Url } from '../../protocol/base64url.ts';
import { answersLink, askLink, fragmentIn, isFragment } from '../../protocol/link.ts';
import { beginCopying } from './copying.ts';
import { at, byId, hide, press } from './dom.ts';
import { type Handover, showHandedOver, takeHandover } from './handover.ts';
import { keepFragment, stopIncomplete } from './link-end.ts';
import { keepAsking } from './pace.ts';
import {
  type Asked,
  addRow,
  askAbout,
  base,
  call,
  dateText,
  fill,
  isUnread,
  key,
  knowsX25519,
  moment,
  remember,
  remembered,
  stateText,
  stop,
} from './requests.ts';
import { showInstead } from './shown.ts';
import { beginSharing, showMessage } from './shown-message.ts';

const list = byId('list');
/** By secret key. An answer whose `end` is `null` does not open. */
const shown = new Map<string, { readonly row: Element; readonly end: string | null }>();
let isKept = false;
let last: Asked | null = null;

function stopFor(error: string): void {
  if (error === 'unknown_request') {
    remember(key);
    isKept = true;
    showInstead('#unknown')?.querySelector('h1')?.focus();
  } else stop(error);
}

function rowFor(secretKey: string, asker: Asker): Element {
  const row = addRow(list);
  const number = new Intl.NumberFormat(document.documentElement.lang).format(shown.size + 1);
  fill(row.querySelector('strong'), { number });
  row.querySelector('button')?.addEventListener('click', () => {
    void change('discard', { secret_key: secretKey }, asker);
  });
  return row;
}

/** Returns whether it can be opened. */
async function showAnswer(answer: WireAnswer, asker: Asker, isOver: boolean): Promise<boolean> {
  const { secret_key: secretKey, state, discarded, created } = answer;
  const opened = shown.get(secretKey)?.end ?? (await unwrap(answer, key, asker));
  const { row, end } = shown.get(secretKey) ?? { row: rowFor(secretKey, asker), end: opened };
  shown.set(secretKey, { row, end });
  const opens = isUnread(answer) && end !== null;
  const fate = discarded ? 'discarded' : state === 'new' && end === null ? 'unreadable' : state;
  row.querySelector('.hint')?.replaceChildren(`${list.dataset[fate]} · ${dateText(created, moment)}`);
  const [link, discarding] = [row.querySelector('a'), row.querySelector('details')];
  const href = opens ? `${list.dataset.secret}${secretKey}#${end}` : '#';
  if (link) Object.assign(link, { hidden: !opens, href });
  discarding?.toggleAttribute('hidden', discarded || (isOver && state !== 'new'));
  return opens;
}

async function show(asked: Asked, asker: Asker): Promise<void> {
  const { record, records } = asked;
  const isOver = record.state === 'ended';
  const hashes = new Set<string>();
  let unread = 0;
  for (const answer of records) {
    // Two answers under one hash are one.
    if (hashes.size === hashes.add(answer.link_hash).size) continue;
    if (await showAnswer(answer, asker, isOver)) unread += 1;
  }
  showHead(asked, unread);
  hide('arrived', records.length === 0);
  hide('handing', record.state !== 'open');
  hide('keep', isOver && unread === 0);
  for (const id of ['changes', 'when']) hide(id, isOver);
  if (last !== null && records.length > last.records.length) fill(byId('news'), {});
  last = asked;
}

function showHead(asked: Asked, unread: number): void {
  const { state, until } = asked.record;
  const title = byId('state');
  const isFresh = state === 'open' && asked.records.length === 0 && !isKept;
  title.textContent = isFresh ? (title.dataset.fresh ?? '') : stateText(title, asked, unread);
  const look = unread > 0 || state === 'full' ? 'opened' : state === 'ended' ? 'expired' : 'waiting';
  byId('life').setAttribute('class', `life life-${look}`);
  fill(byId('when'), { date: dateText(until, moment) });
  const [, ...brand] = document.title.split(' · ');
  document.title = [unread > 0 ? `✓ ${title.textContent}` : title.textContent, ...brand].join(' · ');
}

async function change(what: 'change' | 'discard', body: object, asker: Asker): Promise<void> {
  const changed = await call<Asked>(`/request/${key}/${what}`, { owner: asker.ownerProof, ...body });
  stop('');
  if ('error' in changed) return stopFor(changed.error);
  for (const open of document.querySelectorAll<HTMLDetailsElement>('main [open]')) open.open = false;
  await show(changed.said, asker);
}

/** At most as long as the request and an answer can last, whatever this device's clock says; asking may show an earlier end. */
function keep(end: string, box: HTMLInputElement): void {
  const { lifespan = 0, answer_ttl: answerSeconds = 0 } = last?.record ?? {};
  const untilMs = Date.now() + (lifespan + answerSeconds) * 1_000;
  remember(key, box.checked ? { end, untilMs } : undefined);
  box.checked = key in remembered();
  isKept ||= box.checked;
}

function beginKeeping(end: string): void {
  const box = at('input', 'remember');
  byId('own-address').replaceChildren(`${answersLink(key, base)}#${end}`);
  box.checked = key in remembered();
  box.addEventListener('change', () => keep(end, box));
  // Also if the browser refused: then the text is selected.
  document.querySelector('#keep [data-copy]')?.addEventListener('click', () => {
    isKept = true;
  });
  window.addEventListener('beforeunload', (event) => {
    if (!isKept) event.preventDefault();
  });
}

function beginHanding({ publicKey }: Asker, prompt: string, { record }: Asked): void {
  const [link, message] = [at('textarea', 'link'), at('textarea', 'message')];
  link.value = `${askLink(key, record.share_domain, base)}#${toBase64Url(publicKey)}`;
  link.addEventListener('click', () => link.select());
  message.dataset.text = message.dataset.text?.replace('{prompt}', () => prompt) ?? '';
  showMessage();
  beginSharing();
  const way = document.querySelector('details:has(#qr)');
  way?.addEventListener('toggle', () => way.append(at('template', 'draws-qr').content), { once: true });
}

/** Returns the end of the answers link. The handover stays in the history entry, for a reload. */
function endIn(handover: Handover): string {
  const given = fragmentIn(location.hash.slice(1)) ?? '';
  const [, handedOver] = handover.links[0]?.split('#') ?? [];
  const entry = remembered()[key];
  if (handedOver !== undefined) history.replaceState({ handover }, '');
  isKept = isFragment(given) || entry !== undefined;
  // Changing the language would load a page that does not know the end.
  if (!isKept) document.querySelector('a.language')?.remove();
  return isFragment(given) ? given : (handedOver ?? entry?.end ?? '');
}

async function begin(): Promise<void> {
  const handover = takeHandover();
  const end = endIn(handover);
  keepFragment(location.hash.slice(1));
  if (!isFragment(end)) return stopIncomplete();
  hide('needs-scripts', true);
  if (!(await knowsX25519())) return stop('cannot');
  const found = await askAbout(key, end);
  if ('error' in found) return stopFor(found.error);
  const { asker, prompt, said } = found;
  if (prompt === null) stop('otherQuestion');
  byId('prompt').append(prompt ?? '');
  beginKeeping(end);
  beginHanding(asker, prompt ?? '', said);
  showHandedOver(handover);
  beginCopying();
  press('more', () => change('change', { answers: (last?.record.answers ?? 0) + 1 }, asker));
  press('extend', () => change('change', { ttl: Number(at('select', 'ttl').value) }, asker));
  press('close', () => change('change', { close: true }, asker));
  await show(said, asker);
  byId('needs-scripts').remove();
  hide('request', false);
  byId('state').focus();
  keepAsking(async () => {
    const again = await askAbout(key, end);
    if ('said' in again) await show(again.said, asker);
    else if (again.error === 'unknown_request') stopFor(again.error);
    else throw new Error('not now');
    return 'said' in again;
  });
}

void begin();
