/**
 * Asks for a secret: draws the ends of both links, encrypts the question and sends what the server may know. The press that creates the request
 * also copies its link. Below the form, it lists what this device remembers.
 */
import { drawRequest } from '../../../sdk/request.ts';
import { answersLink, askLink } from '../../protocol/link.ts';
import { at, byId, hide } from './dom.ts';
import { handOver } from './handover.ts';
import { beginLinkCopy } from './link-copy.ts';
import { keepAsking } from './pace.ts';
import {
  addRow,
  askAbout,
  base,
  isUnread,
  knowsX25519,
  notice,
  remember,
  remembered,
  saySending,
  stateText,
  stop,
} from './requests.ts';

const form = at('form', 'share');
const field = at('input', 'prompt');
const list = byId('mine-list');
let isSending = false;

/** @param text `''` clears it */
function refuse(text: string): void {
  byId('prompt-wrong').replaceChildren(text);
  field.ariaInvalid = String(text !== '');
  if (text !== '') field.focus();
}

type Made = Partial<Record<'key' | 'domain' | 'address' | 'say' | 'formToken', string>>;

async function post(sent: Readonly<Record<string, string>>): Promise<Made> {
  const body = new URLSearchParams(sent);
  for (const [name, value] of new FormData(form)) body.append(name, String(value));
  const asked = fetch(form.action, { method: 'POST', body, cache: 'no-store' });
  return asked.then((answer) => answer.json()).catch(() => ({ say: notice.dataset.unreachable }));
}

async function create(): Promise<void> {
  const finishCopy = beginLinkCopy();
  isSending = true;
  saySending(true);
  const drawn = await drawRequest(field.value).catch(() => null);
  const made: Made = drawn === null ? { say: notice.dataset.wrong ?? '' } : await post(drawn.sent);
  isSending = false;
  saySending(false);
  const { key, domain = '', address = '', say = '', formToken } = made;
  if (formToken) form.querySelector('[name="form-token"]')?.setAttribute('value', formToken);
  if (drawn === null || key === undefined) {
    void finishCopy(null);
    return refuse(say);
  }
  field.value = '';
  const isCopied = await finishCopy(`${askLink(key, domain, base)}#${drawn.askEnd}`);
  const links = [`${answersLink(key, base)}#${drawn.answersEnd}`];
  handOver({ links, passphrase: null, isCopied }, address);
}

function rowFor(key: string): Element {
  const row = addRow(list);
  row.id = `mine-${key}`;
  row.querySelector('a')?.setAttribute('href', `${list.dataset.answers}${key}`);
  row.querySelector('button')?.addEventListener('click', () => {
    remember(key);
    drop(row);
  });
  hide('mine', false);
  return row;
}

function drop(row: Element | null): void {
  row?.remove();
  hide('mine', list.children.length === 0);
}

/** Rejects if the server does not answer. */
async function renew(key: string, end: string): Promise<void> {
  const found = await askAbout(key, end);
  if ('error' in found && found.error !== 'unknown_request') throw new Error('not now');
  if ('error' in found) remember(key);
  const shown = document.getElementById(`mine-${key}`);
  // Even if another tab forgot it meanwhile.
  if ('error' in found || !(key in remembered())) return drop(shown);
  const row = shown ?? rowFor(key);
  const unread = found.said.records.filter(isUnread).length;
  row.querySelector('bdi')?.replaceChildren(found.prompt ?? '…');
  row.querySelector('.hint')?.replaceChildren(stateText(list, found.said, unread));
}

async function renewAll(): Promise<boolean> {
  const kept = Object.entries(remembered());
  await Promise.all(kept.map(([key, { end }]) => renew(key, end)));
  return kept.length > 0;
}

async function begin(): Promise<void> {
  byId('needs-scripts').remove();
  if (!(await knowsX25519())) return stop('cannot');
  hide('share', false);
  field.addEventListener('input', () => refuse(''));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isSending) void create();
  });
  window.addEventListener('beforeunload', (event) => {
    if (field.value) event.preventDefault();
  });
  await renewAll().catch(() => {});
  keepAsking(renewAll);
}

void begin();
