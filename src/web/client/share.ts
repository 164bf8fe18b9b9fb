/**
 * The share form with scripts: options show what is chosen, a counter shows the room left, and the form remains until the response arrives,
 * so that nothing typed is lost. Repeated presses send only once. After creation, the page forgets what was typed, even if the browser
 * restores it, and keeps only choices (`share-home.ts`). Leaving with text typed asks for confirmation first.
 */
import { find, load } from './dom.ts';
import { handOver } from './handover.ts';
import { beginLinkCopy, type FinishLinkCopy } from './link-copy.ts';
import { drawing, keepTexts } from './share-draw.ts';
import { template } from './share-fields.ts';
import {
  beginFile,
  contentNow,
  dropFile,
  fileTooLargeText,
  hasFile,
  isFileTooLarge,
  showFile,
} from './share-file.ts';
import { beginHome, recallOptions, rememberOptions } from './share-home.ts';
import {
  bodyWithout,
  bytesIn,
  hasMouse,
  hasPeople,
  namedTexts,
  note,
  say,
  sayWrong,
  secretField,
  shareForm,
  tellRoom,
  typedFields,
} from './share-parts.ts';
import {
  beginSealing,
  isSealing,
  limitBytes,
  mails,
  openEncryption,
  sealForm,
  tellEncryption,
  tooLargeText,
} from './share-sealing.ts';

const button = (id: 'create' | 'generate') => find(`#${id}`, HTMLButtonElement);

let isSending = false;
let finishLinkCopy: FinishLinkCopy | null = null;
let isCreated = false;

const usedBytes = () => bytesIn(secretField()?.value ?? '');

function count(): void {
  tellRoom(hasFile() ? null : (secretField()?.value ?? ''), limitBytes());
}

/** Explains at the field, as the server would, why the form is not sent. */
function stop(message: string): void {
  sayWrong(message);
  (hasFile() ? document.getElementById('file-remove') : secretField())?.focus();
}

function admit(): void {
  if (usedBytes() <= limitBytes()) sayWrong('');
}

function receiptIn(request: XMLHttpRequest): string | null {
  return request.status === 201 ? request.getResponseHeader('location') : null;
}

/** Returns `null` if no response came, which the page then says. */
async function post(
  address: string,
  body: URLSearchParams,
  pressed: HTMLButtonElement | null,
): Promise<XMLHttpRequest | null> {
  setSending(true, pressed);
  const request = await load(address, body, showProgress).catch(() => null);
  if (request === null || receiptIn(request) === null) setSending(false, pressed);
  if (request === null) sayNoAnswer(address, 0);
  return request;
}

function addressOf(form: HTMLFormElement, pressed: HTMLButtonElement | null): string {
  return new URL(pressed?.getAttribute('formaction') ?? form.action, location.href).href;
}

function withPressed(body: URLSearchParams, pressed: HTMLButtonElement | null): URLSearchParams {
  if (pressed !== null && pressed.name !== '') body.append(pressed.name, pressed.value);
  return body;
}

async function sendPlain(form: HTMLFormElement, pressed: HTMLButtonElement | null): Promise<void> {
  const address = addressOf(form, pressed);
  const body = withPressed(bodyWithout(form), pressed);
  for (const [name, text] of namedTexts()) body.append(name, text);
  take(await post(address, body, pressed), address);
}

/** Sends the form sealed. If sealing fails, nothing is sent and the form does not change. */
async function sendSealed(form: HTMLFormElement, pressed: HTMLButtonElement | null): Promise<void> {
  setSending(true, pressed, 'sealing');
  const made = await sealForm(form, contentNow).catch((error: unknown) => {
    setSending(false, pressed);
    sayUnsealed(error);
    return null;
  });
  if (made === null) return;
  // Lets the page respond between sealing and sending a large file.
  await new Promise((resume) => setTimeout(resume));
  const address = addressOf(form, null);
  take(await post(address, made.body, pressed), address, made.fragment);
}

async function sendStandIns(form: HTMLFormElement, pressed: HTMLButtonElement): Promise<void> {
  const address = addressOf(form, pressed);
  const body = withPressed(bodyWithout(form), pressed);
  const fill = drawing(form, body, pressed);
  const request = await post(address, body, pressed);
  const answer = request?.responseXML;
  if (!answer?.getElementById('share')) return take(request, address);
  try {
    await fill(answer);
    show(answer, pressed.id);
  } catch {
    sayNoAnswer(address, 0);
  }
}

function showProgress(part: number): void {
  const bar = find('#progress', HTMLProgressElement);
  if (bar === null) return;
  bar.hidden = !isSending;
  bar.value = part;
}

function setSending(isNow: boolean, pressed: HTMLButtonElement | null, what = 'sending'): void {
  isSending = isNow;
  for (const each of document.querySelectorAll<HTMLButtonElement>('#share button')) each.disabled = isNow;
  const soFar = document.getElementById('so-far')?.textContent;
  say('sending', isNow ? (soFar ?? document.getElementById('sending')?.dataset[what]) : '');
  if (!isNow) {
    void finishLinkCopy?.(null);
    showProgress(0);
  }
  if (isNow) document.getElementById('unsent')?.replaceChildren();
  // A disabled button loses the focus.
  else if (document.activeElement === document.body) (pressed?.id ? pressed : button('create'))?.focus();
}

function take(request: XMLHttpRequest | null, address: string, fragment?: string): void {
  if (request === null) return;
  const { status, responseXML: answer } = request;
  const created = receiptIn(request);
  const [title, lead] = [answer?.querySelector('main h1'), answer?.querySelector('main .lead')];
  if (created !== null) takeLink(created, answer, fragment);
  else if (answer?.getElementById('share')) {
    if (fragment !== undefined) keepTexts(answer);
    show(answer);
  }
  // An older server redirects to the receipt instead.
  else if (answer?.getElementById('watch')) void goOn(request.responseURL);
  else if (title && lead) sayRefused(title.textContent ?? '', lead.textContent ?? '');
  else sayNoAnswer(address, status);
}

/** Those that only this browser knows. */
const links: string[] = [];

/** Each of several people has their own fragment, so the browser seals and sends each alone; the answer has the rest of the list. */
function takeLink(receipt: string, answer: Document | null, fragment?: string): void {
  const [form, left] = [shareForm(), answer?.getElementById('left')];
  const said = answer?.getElementById('link')?.textContent ?? '';
  const link = fragment === undefined ? said : `${said}#${fragment}`;
  if (fragment !== undefined) links.push(link);
  if (left) document.querySelector('#option-people > .panel')?.replaceChildren(...left.childNodes);
  if (form !== null && left && hasPeople()) void sendSealed(form, null);
  else void goOn(receipt, link);
}

/** Whether the choices are those of an earlier secret, which neither follow what is remembered nor change it. */
const isAgain = () => document.querySelector('.note.again') !== null;

async function goOn(receipt: string, link = ''): Promise<void> {
  const passphrase = find('#passphrase', HTMLInputElement)?.value || null;
  isCreated = true;
  if (!isAgain()) rememberOptions();
  for (const field of typedFields()) {
    field.value = '';
    field.defaultValue = '';
  }
  dropFile();
  const isCopied = link !== '' && (await finishLinkCopy?.(link)) === true;
  handOver({ links, passphrase, isCopied }, receipt);
}

/** Replaces the page with the form that the server returned. @param pressed the id of the button that drew a value */
function show(answer: Document, pressed: string | null = null): void {
  const { lang, dir } = answer.documentElement;
  if (lang !== document.documentElement.lang) Object.assign(document.documentElement, { lang, dir });
  document.title = answer.title;
  keepOpen(answer);
  document.body.replaceWith(document.adoptNode(answer.body));
  begin();
  const wanted = document.querySelector<HTMLElement>('[autofocus]');
  const isTemplate = pressed === 'draw-template';
  if (hasMouse() || pressed === null || isTemplate || !announce()) wanted?.focus();
  else (document.getElementById(pressed) ?? button('generate'))?.focus();
  document.querySelector('.news')?.closest('.field')?.scrollIntoView({ block: 'nearest' });
  const start = template.indexOf('=') + 1;
  if (isTemplate) secretField()?.setSelectionRange(start, start);
}

/** Refills the status, because screen readers announce it only when it changes. @returns whether there is news */
function announce(): boolean {
  const news = document.querySelector('.news');
  const text = news?.textContent ?? '';
  news?.replaceChildren();
  requestAnimationFrame(() => news?.replaceChildren(text));
  return news !== null;
}

/** Reports a problem at the field where it can be fixed, and any other in a note. */
function sayUnsealed(error: unknown): void {
  const { code, field } = error as { readonly code?: unknown; readonly field?: unknown };
  const { passphrase, note: words, illFormed = '' } = document.getElementById('unsealed-note')?.dataset ?? {};
  if (code !== 'invalid_field') note('unsealed-note');
  else if (field === 'passphrase' || field === 'note') {
    sayRefused((field === 'note' ? words : passphrase) ?? '', '');
    const wrong = document.getElementById(field);
    openAround(wrong);
    wrong?.focus();
  } else stop(illFormed);
}

function sayRefused(title: string, lead: string): void {
  note('refused-note', (filled) => {
    filled.querySelector('h2')?.replaceChildren(title);
    filled.querySelector('p')?.replaceChildren(lead);
  });
}

/** Reports that no response came. The request may still have created a secret and perhaps an email. */
function sayNoAnswer(address: string, status: number): void {
  const isCreation = address === shareForm()?.action;
  note('no-answer-note', (filled) => {
    if (status !== 0) filled.querySelector('h2')?.append(` (${status})`);
    for (const each of filled.querySelectorAll<HTMLElement>('[data-outcome]'))
      if (!isCreation || each.dataset.outcome !== (mails() ? 'unsure-mail' : 'unsure')) each.remove();
  });
}

const trimmed = (id: string) => {
  const field = document.getElementById(id);
  return field !== null && 'value' in field ? String(field.value).trim().replaceAll('\n', ', ') : '';
};

function tell(name: string, chosen: string): void {
  const option = find(`#option-${name}`, HTMLDetailsElement);
  const said = option?.querySelector('.chosen');
  if (!option || !said) return;
  option.classList.toggle('set', chosen !== '');
  if (said.textContent !== chosen) said.textContent = chosen;
}

/** As in `share-options.tsx`. */
const done = '✓';

/** Returns a lifetime such as `7 days`; `null` while the typed amount is not a number. */
function lifetime(): string | null {
  const choice = find('#ttl', HTMLSelectElement);
  if (choice?.value !== 'other') return choice?.selectedOptions[0]?.text.trim() ?? null;
  const amount = trimmed('ttl-amount');
  if (!/^[0-9]{1,9}$/.test(amount)) return null;
  const unit = trimmed('ttl-unit').replace(/s$/, '');
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(document.documentElement.lang, style).format(Number(amount));
}

function tellLifetime(): void {
  const said = document.querySelector<HTMLElement>('#option-ttl .chosen');
  const { said: text = '', other = '' } = said?.dataset ?? {};
  const time = lifetime();
  said?.replaceChildren(time === null ? other : text.replace('{time}', time));
}

function tellChips(): void {
  tellLifetime();
  const isNotified = document.querySelector('#option-notify input:checked') !== null;
  const passphrase = find('#passphrase', HTMLInputElement)?.value ?? '';
  tell('notify', isNotified ? done : '');
  tell('passphrase', passphrase === '' ? '' : done);
  for (const name of ['recipient', 'share-domain', 'people']) tell(name, trimmed(name));
  document
    .getElementById('verify-same')
    ?.toggleAttribute('hidden', trimmed('recipient') !== trimmed('verify'));
  tell('verify', trimmed('verify') === '' ? '' : done);
  tell('memo', trimmed('note') || trimmed('memo'));
}

/** Keeps open options open in the new form, unless it opens a different one in the same row. */
function keepOpen(answer: Document): void {
  for (const { id } of document.querySelectorAll('#share details[id][open]')) {
    const option = answer.getElementById(id);
    if (!(option instanceof HTMLDetailsElement)) continue;
    option.open ||=
      option.name === '' || answer.querySelector(`details[name="${option.name}"][open]`) === null;
  }
}

/** Opens the option that contains a field, so that the field can be focused. */
function openAround(field: Element | null): void {
  const option = field?.closest('details');
  if (option) option.open = true;
}

/** Call this after each change to the content or who encrypts it. */
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
  beginFile({ onChange: renew, isSealing, limitBytes });
  beginHome(renew);
  renew();
  const shortcut = find('#shortcut', HTMLParagraphElement);
  if (shortcut !== null) shortcut.hidden = false;
}

document.addEventListener('input', ({ target }) => {
  if (target instanceof Element && target.matches('#recipient, #people, #mails-each')) renew();
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
  // In the generator's fields, Enter draws a value; elsewhere, or with Ctrl or Cmd, it creates the secret.
  const isCreate = event.ctrlKey || event.metaKey;
  const isGenerate = target instanceof HTMLInputElement && target.name.startsWith('suggest-');
  if (!isCreate && !isGenerate) return;
  event.preventDefault();
  if (!isSending) form.requestSubmit(button(isCreate ? 'create' : 'generate'));
});

document.addEventListener('click', (event) => {
  const { target } = event;
  if (!(target instanceof HTMLAnchorElement) || target.id !== 'show-so-far' || links.length === 0) return;
  event.preventDefault();
  void goOn(target.href);
});

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement) || form.id !== 'share') return;
  event.preventDefault();
  if (isSending) return;
  const pressed = submitter instanceof HTMLButtonElement ? submitter : null;
  if (pressed?.hasAttribute('formaction') === true) void sendStandIns(form, pressed);
  else create(form, pressed);
});

function create(form: HTMLFormElement, pressed: HTMLButtonElement | null): void {
  if (hasFile() && !isSealing()) stopFile();
  else if (hasFile() ? isFileTooLarge() : usedBytes() > limitBytes())
    stop(hasFile() ? fileTooLargeText() : tooLargeText());
  else {
    // A link that the server emails is not for this person to send.
    finishLinkCopy = mails() || hasPeople() ? null : beginLinkCopy();
    if (isSealing()) void sendSealed(form, pressed);
    else void sendPlain(form, pressed);
  }
}

function stopFile(): void {
  openEncryption();
  stop(document.getElementById('encryption-more')?.dataset.file ?? '');
}

window.addEventListener('beforeunload', (event) => {
  if (!isCreated && (hasFile() || typedFields().some(({ value }) => value !== ''))) event.preventDefault();
});

window.addEventListener('pageshow', ({ persisted }) => {
  // Only a page restored from the back/forward cache needs this.
  if (!persisted) return;
  setSending(false, null);
  count();
});

if (document.querySelector('#refused, .news, .aside') === null && !isAgain()) recallOptions();
begin();
if (hasMouse() && document.activeElement === document.body) secretField()?.focus({ preventScroll: true });
