/**
 * The share form with scripts: options that say what is chosen, how much room is left, a shortcut, and a form that stays until the answer arrives, so
 * nothing typed is lost. A press sends once, however often it is repeated. Once the secret is created, what was typed
 * is gone from this page, even if the browser restores it; nothing is stored. Leaving with something typed asks first.
 */

import { handOver } from './handover.ts';
import { keepOpen, openAround, tellChips } from './share-chips.ts';
import { bytesIn, tellRoom } from './share-count.ts';
import { drawing, fieldNamed, keepTexts } from './share-draw.ts';
import {
  beginFile,
  contentNow,
  dropFile,
  fileTooLargeText,
  hasFile,
  isFileTooLarge,
  showFile,
} from './share-file.ts';
import {
  bodyWithout,
  contentFields,
  element,
  hasMouse,
  namedTexts,
  note,
  say,
  sayWrong,
  secretField,
  shareForm,
} from './share-parts.ts';
import {
  beginSealing,
  isSealing,
  limitBytes,
  openEncryption,
  type SealedForm,
  sealForm,
  tellEncryption,
  tooLargeText,
} from './share-sealing.ts';

const button = (id: 'create' | 'generate') => element(id, HTMLButtonElement);

let isSending = false;
let isCreated = false;

const usedBytes = () => bytesIn(secretField()?.value ?? '');

function count(): void {
  tellRoom(hasFile() ? null : (secretField()?.value ?? ''), limitBytes());
}

/** Explains at the field why the form is not sent, as the server would after receiving all of it. */
function stop(message: string): void {
  sayWrong(message);
  (hasFile() ? document.getElementById('file-remove') : secretField())?.focus();
}

function admit(): void {
  if (usedBytes() <= limitBytes()) sayWrong('');
}

/** What the server may read. */
function plainBody(form: HTMLFormElement): URLSearchParams {
  const body = bodyWithout(form);
  for (const [name, text] of namedTexts()) body.append(name, text);
  return body;
}

interface Post {
  readonly address: string;
  readonly body: URLSearchParams;
  readonly pressed: HTMLButtonElement | null;
  readonly take: (request: XMLHttpRequest) => unknown;
}

/** As a document, because the policy (Trusted Types) forbids turning text into markup. */
function post({ address, body, pressed, take: taken }: Post): void {
  const request = new XMLHttpRequest();
  request.responseType = 'document';
  request.onload = () => {
    setSending(false, pressed);
    taken(request);
  };
  request.onerror = () => {
    setSending(false, pressed);
    sayNoAnswer(address, 0);
  };
  request.upload.onprogress = ({ loaded, total }) => {
    showProgress(total > 0 ? loaded / total : 0);
  };
  request.open('POST', address);
  request.send(body);
  setSending(true, pressed);
}

function addressOf(form: HTMLFormElement, pressed: HTMLButtonElement | null): string {
  return new URL(pressed?.getAttribute('formaction') ?? form.action, location.href).href;
}

function withPressed(body: URLSearchParams, pressed: HTMLButtonElement | null): URLSearchParams {
  if (pressed !== null && pressed.name !== '') body.append(pressed.name, pressed.value);
  return body;
}

function sendPlain(form: HTMLFormElement, pressed: HTMLButtonElement | null): void {
  const address = addressOf(form, pressed);
  const body = withPressed(plainBody(form), pressed);
  post({ address, body, pressed, take: (request) => take(request, address) });
}

/** Nothing is sent unless it is sealed: whatever fails, the form stays as it is. */
async function sendSealed(form: HTMLFormElement, pressed: HTMLButtonElement | null): Promise<void> {
  setSending(true, pressed, 'sealing');
  let made: SealedForm;
  try {
    made = await sealForm(form, contentNow);
  } catch (error) {
    setSending(false, pressed);
    sayUnsealed(error);
    return;
  }
  // A turn of its own, so that the page answers between sealing a large file and handing it over.
  await new Promise((resume) => setTimeout(resume));
  const address = addressOf(form, null);
  const { body, fragment } = made;
  post({ address, body, pressed, take: (request) => take(request, address, fragment) });
}

/** Draws a value, or puts a text back, without showing the server any. */
function sendStandIns(form: HTMLFormElement, pressed: HTMLButtonElement): void {
  const address = addressOf(form, pressed);
  const wish = { field: fieldNamed(pressed.value), isTakingBack: pressed.name === 'take-back' };
  const { body, fill } = drawing(form, withPressed(bodyWithout(form), pressed), wish);
  post({
    address,
    body,
    pressed,
    async take(request) {
      const answer = request.responseXML;
      if (!answer?.getElementById('share')) return take(request, address);
      try {
        await fill(answer);
        show(answer, pressed.id);
      } catch {
        sayNoAnswer(address, 0);
      }
    },
  });
}

function showProgress(part: number): void {
  const bar = element('progress', HTMLProgressElement);
  if (bar === null) return;
  bar.hidden = !isSending;
  bar.value = part;
}

function setSending(isNow: boolean, pressed: HTMLButtonElement | null, what = 'sending'): void {
  isSending = isNow;
  for (const each of document.querySelectorAll<HTMLButtonElement>('#share button')) each.disabled = isNow;
  say('sending', isNow ? document.getElementById('sending')?.dataset[what] : '');
  if (!isNow) showProgress(0);
  if (isNow) document.getElementById('unsent')?.replaceChildren();
  // A disabled button loses the focus.
  else if (document.activeElement === document.body) (pressed?.id ? pressed : button('create'))?.focus();
}

/** @param fragment of a sealed form */
function take(request: XMLHttpRequest, address: string, fragment?: string): void {
  const { status, responseXML: answer } = request;
  const created = status === 201 ? request.getResponseHeader('location') : null;
  const [title, lead] = [answer?.querySelector('main h1'), answer?.querySelector('main .lead')];
  if (created !== null) goOn(created, fragment);
  else if (answer?.getElementById('share')) {
    if (fragment !== undefined) keepTexts(answer);
    show(answer);
  }
  // An older server redirects to the receipt instead.
  else if (answer?.getElementById('watch')) goOn(request.responseURL);
  else if (title && lead) sayRefused(title.textContent ?? '', lead.textContent ?? '');
  else sayNoAnswer(address, status);
}

function typedFields() {
  const label = element('memo', HTMLInputElement);
  return [...contentFields(), ...(label === null ? [] : [label])];
}

/** To the receipt, with what only this browser knows. */
function goOn(receipt: string, fragment: string | null = null): void {
  const passphrase = element('passphrase', HTMLInputElement)?.value || null;
  isCreated = true;
  for (const field of typedFields()) {
    field.value = '';
    field.defaultValue = '';
  }
  dropFile();
  handOver({ fragment, passphrase }, receipt);
}

/**
 * Shows the form that the server returned, with everything typed and the refusal.
 * @param pressed the id of the button that drew a value
 */
function show(answer: Document, pressed: string | null = null): void {
  const { lang, dir } = answer.documentElement;
  if (lang !== document.documentElement.lang) Object.assign(document.documentElement, { lang, dir });
  document.title = answer.title;
  keepOpen(answer);
  document.body.replaceWith(document.adoptNode(answer.body));
  begin();
  const wanted = document.querySelector<HTMLElement>('[autofocus]');
  if (hasMouse() || pressed === null || !announce()) wanted?.focus();
  else (document.getElementById(pressed) ?? button('generate'))?.focus();
}

/** Says what is new, which a reader hears only once it changes; `false` if nothing is. */
function announce(): boolean {
  const news = document.querySelector('.news');
  const text = news?.textContent ?? '';
  news?.replaceChildren();
  requestAnimationFrame(() => news?.replaceChildren(text));
  return news !== null;
}

/** What can be mended is said at its field; everything else in a note. */
function sayUnsealed(error: unknown): void {
  const { code, field } = error as { readonly code?: unknown; readonly field?: unknown };
  const isPassphrase = code === 'invalid_field' && field === 'passphrase';
  const reason = element('unsealed-note', HTMLTemplateElement)?.dataset[
    isPassphrase ? 'passphrase' : 'illFormed'
  ];
  if (code !== 'invalid_field') note('unsealed-note');
  else if (isPassphrase) {
    sayRefused(reason ?? '', '');
    const field = document.getElementById('passphrase');
    openAround(field);
    field?.focus();
  } else stop(reason ?? '');
}

function sayRefused(title: string, lead: string): void {
  note('refused-note', (filled) => {
    filled.querySelector('h2')?.replaceChildren(title);
    filled.querySelector('p')?.replaceChildren(lead);
  });
}

/** The request may have arrived although its answer was lost: then there is a secret, and perhaps a mail. */
function sayNoAnswer(address: string, status: number): void {
  const recipient = element('recipient', HTMLInputElement)?.value ?? '';
  const outcome = recipient === '' ? 'unsure' : 'unsure-mail';
  const isCreation = address === shareForm()?.action;
  note('no-answer-note', (filled) => {
    if (status !== 0) filled.querySelector('h2')?.append(` (${status})`);
    for (const each of filled.querySelectorAll<HTMLElement>('[data-outcome]'))
      if (!isCreation || each.dataset.outcome !== outcome) each.remove();
  });
}

/** After every change of what is shared, and of who encrypts it. */
function renew(): void {
  tellEncryption(hasFile());
  showFile();
  tellChips();
  count();
}

function begin(): void {
  beginSealing(() => {
    sayWrong('');
    renew();
  });
  beginFile(renew);
  renew();
  const shortcut = element('shortcut', HTMLParagraphElement);
  if (shortcut !== null) shortcut.hidden = false;
}

document.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement && target.id === 'recipient') renew();
  tellChips();
  if (!(target instanceof HTMLTextAreaElement) || target.id !== 'secret') return;
  count();
  admit();
});

document.addEventListener('keydown', (event) => {
  const form = shareForm();
  const { target } = event;
  if (form === null || !(target instanceof HTMLElement) || !form.contains(target)) return;
  if (event.key !== 'Enter' || event.isComposing) return;
  // Enter in the generator's fields generates; elsewhere it creates, as does Ctrl or Cmd with Enter everywhere.
  const isCreate = event.ctrlKey || event.metaKey;
  const isGenerate = target instanceof HTMLInputElement && target.name.startsWith('suggest-');
  if (!isCreate && !isGenerate) return;
  event.preventDefault();
  if (!isSending) form.requestSubmit(button(isCreate ? 'create' : 'generate'));
});

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement) || form.id !== 'share') return;
  event.preventDefault();
  if (isSending) return;
  const pressed = submitter instanceof HTMLButtonElement ? submitter : null;
  if (pressed?.hasAttribute('formaction') === true) sendStandIns(form, pressed);
  else create(form, pressed);
});

function create(form: HTMLFormElement, pressed: HTMLButtonElement | null): void {
  if (hasFile() && !isSealing()) stopFile();
  else if (hasFile() ? isFileTooLarge() : usedBytes() > limitBytes())
    stop(hasFile() ? fileTooLargeText() : tooLargeText());
  else if (isSealing()) void sendSealed(form, pressed);
  else sendPlain(form, pressed);
}

function stopFile(): void {
  openEncryption();
  stop(document.getElementById('encryption-more')?.dataset.file ?? '');
}

window.addEventListener('beforeunload', (event) => {
  if (!isCreated && (hasFile() || typedFields().some(({ value }) => value !== ''))) event.preventDefault();
});

// Restored from the back/forward cache.
window.addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  setSending(false, null);
  count();
});

begin();
if (hasMouse() && document.activeElement === document.body) secretField()?.focus({ preventScroll: true });
