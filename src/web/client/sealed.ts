/**
 * Opens an end-to-end secret. What opens it is in the fragment, which never leaves this browser, nor does the passphrase: the server
 * gets proofs of both, and they are computed before anything is asked. Only a person's own press opens (a trusted event), and only
 * ciphertext is taken for an answer. A lost answer is asked for again under the same nonce; for a minute a reload of this tab may.
 */

import { MayflyError } from '../../../sdk/error.ts';
import { askAgain, isLost } from '../../../sdk/lost-answer.ts';
import { type Content, open, type Proofs, prove } from '../../../sdk/sealing.ts';
import { fragmentIn, isFragment } from '../../protocol/link.ts';
import { reloadAtTop } from './handover.ts';
import { atEndOf, dropLook, type KeptLook, keepLook, keptLook } from './kept-look.ts';
import { showOpened } from './opened.ts';
import { beginPassphrase, endMinute, find, forget, passphraseField, showInstead } from './shown.ts';
import { stretchInWorker } from './stretching.ts';
import { beginTelling } from './telling.ts';

const sealed = document.getElementById('sealed') ?? document.createElement('div');
const { path = '', kind } = sealed.dataset;
const isAgain = kind === 'again';
const isBurn = kind === 'burn';
const fragment = fragmentIn(location.hash.slice(1)) ?? '';

let formToken = sealed.dataset.formToken ?? '';
let isBusy = false;
/** The secret may have been opened already, for this tab. */
let mayBeOpened = isAgain;

/** `burn`: it burns what it could open. */
export type SealedKind = 'first' | 'again' | 'burn';

/** What the page has ready to say, as `data-…`. */
export type SealedWord =
  | 'insecure'
  | 'cannotProve'
  | 'noAnswer'
  | 'unreadable'
  | 'over'
  | 'stretching'
  | 'opening'
  | 'passphraseMissing'
  | 'passphraseWrong'
  | 'pressYourself';

const word = (name: SealedWord): string => sealed.dataset[name] ?? '';

function say(id: string, text: string): void {
  const place = document.getElementById(id);
  if (place === null) return;
  place.textContent = text;
  if (id === 'notice') place.hidden = text === '';
}

/** In place of the opener, where there is nothing to press. */
function stop(name: SealedWord): void {
  sealed.hidden = true;
  document.getElementById('consequences')?.remove();
  say('notice', word(name));
}

/** Replaces the whole page, and has a text ready for the sender. */
function stopIncomplete(): void {
  const [page, words] = ['needs-scripts', 'incomplete'].map((id) => document.getElementById(id));
  if (page == null || words == null) return;
  words.previousElementSibling?.remove();
  words.hidden = false;
  page.classList.remove('late');
  document.getElementById('main')?.replaceChildren(page);
  document.title = words.dataset.title ?? document.title;
  beginTelling();
}

function setAddress(address: string | undefined, end = `#${fragment}`): void {
  history.replaceState(null, '', `${address ?? path}${end}`);
}

function setBusy(isNow: boolean, said: '' | SealedWord): void {
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

/** @throws MayflyError `unreachable` or `unknown_secret` */
async function post(body: URLSearchParams): Promise<Asked> {
  let asked: Asked;
  try {
    const address = sealed.dataset.open ?? '';
    const response = await fetch(address, { method: 'POST', body, cache: 'no-store', redirect: 'error' });
    const { ok, status } = response;
    // 503: it was not opened.
    if (status >= 500 && status !== 503) throw new Error(`${status}`);
    asked = { ok, answer: (await response.json()) as Answer };
  } catch {
    mayBeOpened = true;
    throw new MayflyError('unreachable', '');
  }
  if (asked.answer.at === 'gone') throw new MayflyError('unknown_secret', '');
  return asked;
}

/** `null`: no answer. What was asked for may have been opened, and a further press asks in the same way. */
async function ask({ linkProof, proof }: Proofs, look: string | null): Promise<Asked | null> {
  const body = new URLSearchParams({ 'link-proof': linkProof, proof });
  if (look !== null) body.set('look', look);
  if (formToken !== '') body.set('form-token', formToken);
  const gone: Asked = { ok: false, answer: { at: 'gone' } };
  return askAgain(() => post(body)).catch((error: unknown) => (isLost(error) ? null : gone));
}

/** `null`: there is something to say at the field, or nothing to compute with. */
async function proveTyped(): Promise<Proofs | null> {
  const field = passphraseField();
  const typed = field?.value ?? '';
  if (field !== null && typed === '') {
    refusePassphrase(word('passphraseMissing'));
    return null;
  }
  try {
    return await prove(fragment, field === null ? null : typed, stretchInWorker);
  } catch (error) {
    const isTyped = error instanceof MayflyError && error.code === 'invalid_field';
    if (isTyped) refusePassphrase(word('passphraseWrong'));
    else say('notice', word('cannotProve'));
    return null;
  }
}

function refusePassphrase(text: string): void {
  const field = passphraseField();
  say('passphrase-wrong', text);
  if (field === null) return;
  field.value = '';
  field.setAttribute('aria-invalid', 'true');
  field.focus();
}

function refused({ say: text, at, formToken: token }: Answer): void {
  if (at === 'gone') {
    leave();
    return;
  }
  if (!mayBeOpened && !isBurn) {
    dropLook();
    setAddress(path);
  }
  if (typeof token === 'string') formToken = token;
  const said = typeof text === 'string' ? text : word('cannotProve');
  if (at === 'passphrase') refusePassphrase(said);
  else say('notice', said);
}

/** The server's own page says that there is nothing. */
function leave(): void {
  dropLook();
  if (isAgain) stop('over');
  else {
    setAddress(path);
    reloadAtTop();
  }
}

async function openNow(): Promise<void> {
  if (isBusy) return;
  const field = passphraseField();
  say('notice', '');
  say('passphrase-wrong', '');
  field?.removeAttribute('aria-invalid');
  if (field !== null) field.type = 'password';
  setBusy(true, field === null ? 'opening' : 'stretching');
  const proofs = await proveTyped();
  if (proofs === null) return setBusy(false, '');
  setBusy(true, 'opening');
  if (isBurn) return burn(proofs);
  const look = keptLook(path) ?? keepLook(path, field !== null);
  setAddress(sealed.dataset.again);
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
  const got = await ask(proofs, null);
  setBusy(false, '');
  if (got === null) return say('notice', word('noAnswer'));
  if (!got.ok || got.answer.burned !== true) return refused(got.answer);
  forget();
  setAddress(path, '');
  showInstead('#burned')?.querySelector('h1')?.focus();
}

function show(content: Content, look: KeptLook): void {
  showOpened(content);
  atEndOf(look, () => {
    setAddress(path, '');
    endMinute();
  });
  document.getElementById('done')?.addEventListener('click', () => {
    void finish(look);
  });
}

/** Clears this tab, whether or not the server hears of it: its minute ends by itself. */
async function finish({ look }: KeptLook): Promise<void> {
  dropLook();
  forget();
  setAddress(path, '');
  const body = new URLSearchParams({ look });
  if (formToken !== '') body.set('form-token', formToken);
  const address = sealed.dataset.done ?? '';
  await fetch(address, { method: 'POST', body, cache: 'no-store', keepalive: true }).catch(() => null);
  location.replace(address);
}

/** A press by a program opens nothing. */
function onPress(event: Event): void {
  if (event.isTrusted) void openNow();
  else say('notice', word('pressYourself'));
}

function beginPressing(): void {
  for (const shown of [sealed, find('.aside', HTMLElement)]) if (shown !== null) shown.hidden = false;
  beginPassphrase();
  document.getElementById('open')?.addEventListener('click', onPress);
  passphraseField()?.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing) onPress(event);
  });
}

/** Other ways that would take the fragment out of the address. */
function keepFragment(): void {
  document.querySelector('a.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    document.getElementById('main')?.focus();
  });
  const language = find('form.language', HTMLFormElement);
  if (language !== null) language.action += location.hash;
  // To burn it takes what opens it.
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#burn-unread, [data-keeps-fragment]'))
    link.href += location.hash;
  window.addEventListener('hashchange', () => {
    if (location.hash === '#main') setAddress(location.pathname);
    // Somebody pastes the whole link over a part of it.
    else reloadAtTop();
  });
}

function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation');
  return navigation instanceof PerformanceNavigationTiming && navigation.type === 'reload';
}

/** Why nothing can be opened here; `null` if it can. */
function flawNow(kept: KeptLook | null): 'over' | 'insecure' | 'incomplete' | null {
  if (isAgain && kept === null) return 'over';
  if (!isSecureContext) return 'insecure';
  return isFragment(fragment) ? null : 'incomplete';
}

function begin(): void {
  keepFragment();
  const kept = keptLook(path);
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
  // The person pressed once already, in this tab and within the minute.
  if (isAgain && kept?.hasPassphrase === false && isReload() && history.state === null) void openNow();
}

window.addEventListener('pagehide', forget);
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  // Coming back is no wish to see it: that takes a press.
  history.replaceState('back', '');
  location.reload();
});

begin();
