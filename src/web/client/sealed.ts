/**
 * Opens an end-to-end secret. Fragment and passphrase never leave this browser: the server gets proofs of both, computed before the first
 * request. Only a trusted press opens the secret, and the script accepts only ciphertext. If a response is lost, the script asks again with
 * the same nonce; for a minute, a reload of this tab may do so too.
 */
import { newLook } from '../../../sdk/drawing.ts';
import { MayflyError } from '../../../sdk/error.ts';
import { askAgain, isLost } from '../../../sdk/lost-answer.ts';
import { type Content, open, openNote, type Proofs, prove, proveLink } from '../../../sdk/sealing.ts';
import { lookSeconds } from '../../protocol/limits.ts';
import { fragmentIn, isFragment } from '../../protocol/link.ts';
import { find } from './dom.ts';
import { reloadAtTop } from './handover.ts';
import { keepFragment, stopIncomplete } from './link-end.ts';
import { showOpened } from './opened.ts';
import { beginPassphrase, endMinute, forget, passphraseField, showInstead } from './shown.ts';
import { stretchInWorker } from './stretching.ts';
import './time.ts';

const sealed = document.getElementById('sealed') ?? document.createElement('div');
const { path = '', kind, look: ofCode } = sealed.dataset;
const isAgain = kind === 'again';
const isBurn = kind === 'burn';
const fragment = fragmentIn(location.hash.slice(1)) ?? '';

let formToken = sealed.dataset.formToken ?? '';
let isBusy = false;
let mayBeOpened = isAgain;

export type SealedKind = 'first' | 'again' | 'burn';

/** Texts that the page gives the script in `data-…` attributes. */
export type SealedText =
  | 'insecure'
  | 'cannotProve'
  | 'noAnswer'
  | 'unreadable'
  | 'stretching'
  | 'opening'
  | 'passphraseMissing'
  | 'passphraseWrong'
  | 'pressYourself';

/**
 * The second look's nonce is kept in this tab's storage for a minute. Pages keep nothing else but the share form's options. It opens nothing without
 * the fragment, which the address keeps for the same minute, and nothing at all afterwards.
 */
const lookName = 'mayfly-look';

interface KeptLook {
  readonly path: string;
  readonly look: string;
  readonly untilMs: number;
  readonly hasPassphrase: boolean;
}

let lookTimer: ReturnType<typeof setTimeout> | undefined;
/** Used in browsers that store nothing. */
let held: KeptLook | null = null;

/** If the browser stores nothing, only this page, not its reload, can ask again. */
function inStorage(use: (storage: Storage) => unknown): KeptLook | null {
  try {
    return JSON.parse(String(use(sessionStorage) ?? null)) as KeptLook | null;
  } catch {
    return null;
  }
}

function dropLook(): void {
  clearTimeout(lookTimer);
  held = null;
  inStorage((storage) => storage.removeItem(lookName));
}

/** Returns `null` after the minute, or for a different link. */
function keptLook(): KeptLook | null {
  const kept = inStorage((storage) => storage.getItem(lookName)) ?? held;
  if (kept !== null && !(kept.untilMs > Date.now())) dropLook();
  else if (kept?.path === path) return kept;
  return null;
}

function keepLook(hasPassphrase: boolean): KeptLook {
  const kept = { path, look: ofCode ?? newLook(), untilMs: Date.now() + lookSeconds * 1_000, hasPassphrase };
  held = kept;
  inStorage((storage) => storage.setItem(lookName, JSON.stringify(kept)));
  return kept;
}

function atEndOf({ untilMs }: KeptLook, over: () => void): void {
  clearTimeout(lookTimer);
  lookTimer = setTimeout(() => {
    dropLook();
    over();
  }, untilMs - Date.now());
}

const codeField = () => find('#code', HTMLInputElement);
const word = (name: SealedText): string => sealed.dataset[name] ?? '';

function say(id: string, text: string): void {
  const place = document.getElementById(id);
  if (place === null) return;
  place.textContent = text;
  if (id === 'notice') place.hidden = text === '';
}

function stop(name: SealedText | 'over'): void {
  if (name === 'over') {
    showInstead('#over')?.querySelector('h1')?.focus();
    return;
  }
  sealed.hidden = true;
  document.getElementById('consequences')?.remove();
  say('notice', word(name));
}

function setAddress(address: string, end = `#${fragment}`): void {
  history.replaceState(null, '', address + end);
}

function setBusy(isNow: boolean, said: '' | SealedText): void {
  isBusy = isNow;
  say('working', said === '' ? '' : word(said));
  const progress = find('#progress', HTMLProgressElement);
  if (progress !== null) progress.hidden = !isNow;
  const button = find('#open', HTMLButtonElement);
  button?.setAttribute('aria-disabled', String(isNow));
  const field = passphraseField();
  if (field !== null) field.readOnly = isNow;
}

interface Answer {
  readonly burned?: unknown;
  readonly v?: unknown;
  readonly ciphertext?: unknown;
  readonly say?: unknown;
  readonly at?: unknown;
  readonly formToken?: unknown;
}

interface Asked {
  readonly ok: boolean;
  readonly answer: Answer;
}

/** @param page the end of a path in `kit/routes.ts` */
function postTo(page: 'open' | 'burn' | 'note', body: URLSearchParams): Promise<Response> {
  if (formToken !== '') body.set('form-token', formToken);
  return fetch(`${path}/${page}`, { method: 'POST', body, cache: 'no-store', redirect: 'error' });
}

async function post(body: URLSearchParams): Promise<Asked> {
  let asked: Asked;
  try {
    const response = await postTo(isBurn ? 'burn' : 'open', body);
    const { ok, status } = response;
    // A 503 means that the secret was not opened.
    if (status >= 500 && status !== 503) throw new Error(`${status}`);
    asked = { ok, answer: (await response.json()) as Answer };
  } catch {
    mayBeOpened = true;
    throw new MayflyError('unreachable', '');
  }
  if (asked.answer.at === 'gone') throw new MayflyError('unknown_secret', '');
  return asked;
}

/** Returns `null` if no response arrives: the secret may have been opened, and another press repeats the request. */
async function ask({ linkProof, proof }: Proofs, look: string | null): Promise<Asked | null> {
  const body = new URLSearchParams({ 'link-proof': linkProof, proof });
  if (look !== null) body.set('look', look);
  body.set('code', codeField()?.value ?? '');
  const gone: Asked = { ok: false, answer: { at: 'gone' } };
  return askAgain(() => post(body)).catch((error: unknown) => (isLost(error) ? null : gone));
}

async function proveTyped(): Promise<Proofs | null> {
  const field = passphraseField();
  const typed = field?.value ?? '';
  if (field !== null && typed === '') {
    refuseField('passphrase', word('passphraseMissing'));
    return null;
  }
  try {
    return await prove(fragment, field === null ? null : typed, stretchInWorker);
  } catch (error) {
    const isTyped = error instanceof MayflyError && error.code === 'invalid_field';
    if (isTyped) refuseField('passphrase', word('passphraseWrong'));
    else say('notice', word('cannotProve'));
    return null;
  }
}

function refuseField(name: 'passphrase' | 'code', text: string): void {
  const field = find(`#${name}`, HTMLInputElement);
  say(`${name}-wrong`, text);
  if (field === null) return;
  field.value = '';
  field.setAttribute('aria-invalid', 'true');
  field.focus();
}

function refused({ say: text, at, formToken: token }: Answer): void {
  // The first try may have been lost on its way; only the link's page has the field for the code.
  if (at === 'gone' || (isAgain && at === 'code')) {
    leave(at);
    return;
  }
  if (!mayBeOpened && !isBurn) {
    dropLook();
    setAddress(path);
  }
  if (typeof token === 'string') formToken = token;
  const said = typeof text === 'string' ? text : word('cannotProve');
  if (at === 'passphrase' || at === 'code') refuseField(at, said);
  else say('notice', said);
}

function leave(at: 'gone' | 'code'): void {
  dropLook();
  if (isAgain && at === 'gone') stop('over');
  else {
    setAddress(path);
    reloadAtTop();
  }
}

async function openNow(): Promise<void> {
  if (isBusy) return;
  const field = passphraseField();
  say('notice', '');
  for (const each of sealed.querySelectorAll('input')) {
    say(`${each.id}-wrong`, '');
    each.removeAttribute('aria-invalid');
  }
  if (field !== null) field.type = 'password';
  setBusy(true, field === null ? 'opening' : 'stretching');
  const proofs = await proveTyped();
  if (proofs === null) return setBusy(false, '');
  setBusy(true, 'opening');
  if (isBurn) return burn(proofs);
  const look = keptLook() ?? keepLook(field !== null);
  setAddress(`${path}/again`);
  const got = await ask(proofs, look.look);
  setBusy(false, '');
  if (got === null) return say('notice', word('noAnswer'));
  const { v, ciphertext } = got.answer;
  if (!got.ok) return refused(got.answer);
  const content =
    v === 1 && typeof ciphertext === 'string' ? await open(ciphertext, proofs.key).catch(() => null) : null;
  if (content === null) stop('unreadable');
  else show(content, look);
}

async function burn(proofs: Proofs): Promise<void> {
  const got = await ask(proofs, ofCode ?? null);
  setBusy(false, '');
  if (got === null) return say('notice', word('noAnswer'));
  if (!got.ok || got.answer.burned !== true) return refused(got.answer);
  forget();
  setAddress(path, '');
  showInstead('#burned')?.querySelector('h1')?.focus();
}

function show(content: Content, look: KeptLook): void {
  showOpened(content);
  const goneMs = lookSeconds * 1_000 - (look.untilMs - Date.now());
  document.getElementById('main')?.style.setProperty('--gone', `${-Math.round(goneMs)}ms`);
  atEndOf(look, () => {
    setAddress(path, '');
    endMinute();
  });
  document.getElementById('done')?.addEventListener('click', () => {
    void finish(look);
  });
}

/** Clears this tab even if the request fails: the server's minute ends anyway. */
async function finish({ look }: KeptLook): Promise<void> {
  dropLook();
  forget();
  setAddress(path, '');
  const body = new URLSearchParams({ look });
  if (formToken !== '') body.set('form-token', formToken);
  const address = `${path}/done`;
  await fetch(address, { method: 'POST', body, cache: 'no-store', keepalive: true }).catch(() => null);
  location.replace(address);
}

function onPress(event: Event): void {
  if (event.isTrusted) void openNow();
  else say('notice', word('pressYourself'));
}

function beginPressing(): void {
  for (const shown of [sealed, find('.aside', HTMLElement)]) if (shown !== null) shown.hidden = false;
  beginPassphrase();
  codeField()?.focus();
  document.getElementById('open')?.addEventListener('click', onPress);
  passphraseField()?.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing) onPress(event);
  });
}

/** Rejects for a note that does not open, which is not shown. */
async function showNote(): Promise<void> {
  const shown = document.getElementById('sender-note');
  if (shown === null) return;
  const response = await postTo('note', new URLSearchParams({ 'link-proof': await proveLink(fragment) }));
  const { note } = (await response.json()) as { readonly note: string };
  shown.querySelector('bdi')?.append(await openNote(note, fragment));
  shown.hidden = false;
}

function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation');
  return navigation instanceof PerformanceNavigationTiming && navigation.type === 'reload';
}

function flawNow(kept: KeptLook | null): 'over' | 'insecure' | 'incomplete' | null {
  if (isAgain && kept === null) return 'over';
  if (!isSecureContext) return 'insecure';
  return isFragment(fragment) ? null : 'incomplete';
}

function begin(): void {
  keepFragment(fragment);
  const kept = keptLook();
  const flaw = flawNow(kept);
  if (flaw === 'incomplete') {
    stopIncomplete();
    return;
  }
  document.getElementById('needs-scripts')?.remove();
  if (flaw !== null) {
    stop(flaw);
    return;
  }
  if (isAgain && kept?.hasPassphrase === false) document.getElementById('passphrase-field')?.remove();
  beginPressing();
  showNote().catch(() => {});
  // The person has already pressed in this tab within the minute.
  if (isAgain && kept?.hasPassphrase === false && isReload() && history.state === null) void openNow();
}

window.addEventListener('pagehide', forget);
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  // Coming back must not show the secret again without a press.
  history.replaceState('back', '');
  location.reload();
});

begin();
