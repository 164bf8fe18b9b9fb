/**
 * Asks for a secret: draws the ends of both links, encrypts the question and sends what the server may know. The press that creates the request
 * also copies its link. Below the form, it lists what this device remembers.
 */
import { drawRequest } from '../../../sdk/request.ts';
import { answersLink, askLink } from '../../protocol/link.ts';
import { find } from './dom.ts';
import { handOver } from './handover.ts';
import { beginLinkCopy } from './link-copy.ts';
import { keepAsking } from './pace.ts';
import {
  askAbout,
  base,
  byId,
  hide,
  isUnread,
  knowsX25519,
  notice,
  remember,
  remembered,
  stateText,
  stop,
} from './requests.ts';

const form = find('#share', HTMLFormElement);
const field = find('#prompt', HTMLInputElement);
const list = byId('mine-list') ?? document.createElement('ul');
let isSending = false;

/** @param text `''` clears it */
function refuse(text: string): void {
  byId('prompt-wrong')?.replaceChildren(text);
  field?.setAttribute('aria-invalid', String(text !== ''));
  if (text !== '') field?.focus();
}

type Made = Readonly<{ key?: string; domain?: string; address?: string; say?: string; formToken?: string }>;

async function post(form: HTMLFormElement, sent: Readonly<Record<string, string>>): Promise<Made> {
  const body = new URLSearchParams(sent);
  for (const [name, value] of new FormData(form)) body.append(name, String(value));
  const asked = fetch(form.action, { method: 'POST', body, cache: 'no-store' });
  return asked.then((answer) => answer.json()).catch(() => ({ say: notice.dataset.unreachable ?? '' }));
}

async function create(form: HTMLFormElement): Promise<void> {
  const finishCopy = beginLinkCopy();
  isSending = true;
  byId('sending')?.replaceChildren(byId('sending')?.dataset.sending ?? '');
  const drawn = await drawRequest(field?.value ?? '').catch(() => null);
  const made = drawn === null ? { say: notice.dataset.wrong ?? '' } : await post(form, drawn.sent);
  isSending = false;
  byId('sending')?.replaceChildren();
  const { key, domain = '', address = '', say = '', formToken }: Made = made;
  const token = find('#share [name="form-token"]', HTMLInputElement);
  if (token !== null) token.value = formToken ?? token.value;
  if (drawn === null || key === undefined) {
    void finishCopy(null);
    return refuse(say);
  }
  if (field !== null) field.value = '';
  const isCopied = await finishCopy(`${askLink(key, domain, base)}#${drawn.askEnd}`);
  const links = [`${answersLink(key, base)}#${drawn.answersEnd}`];
  handOver({ links, passphrase: null, isCopied }, address);
}

function rowFor(key: string): HTMLElement | null {
  const { content } = find('#mine-row', HTMLTemplateElement) ?? {};
  const row = content ? document.importNode(content, true).firstElementChild : null;
  if (!(row instanceof HTMLElement)) return null;
  row.id = `mine-${key}`;
  row.querySelector('a')?.setAttribute('href', `${list.dataset.answers}${key}`);
  row.querySelector('button')?.addEventListener('click', () => {
    remember(key);
    drop(row);
  });
  list.append(row);
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
  const shown = byId(`mine-${key}`);
  // Even if it was forgotten in the meantime.
  if ('error' in found || !(key in remembered())) return drop(shown);
  const row = shown ?? rowFor(key);
  const unread = found.said.records.filter(isUnread).length;
  row?.querySelector('bdi')?.replaceChildren(found.prompt ?? '…');
  row?.querySelector('.hint')?.replaceChildren(stateText(list, found.said, unread));
}

async function renewAll(): Promise<boolean> {
  const kept = Object.entries(remembered());
  await Promise.all(kept.map(([key, { end }]) => renew(key, end)));
  return kept.length > 0;
}

async function begin(): Promise<void> {
  byId('needs-scripts')?.remove();
  if (!(await knowsX25519())) return stop('cannot');
  hide('share', false);
  field?.addEventListener('input', () => refuse(''));
  form?.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isSending) void create(form);
  });
  window.addEventListener('beforeunload', (event) => {
    if (field?.value) event.preventDefault();
  });
  await renewAll().catch(() => {});
  keepAsking(renewAll);
}

void begin();
