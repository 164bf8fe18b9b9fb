/**
 * The share form with scripts: a live byte count, a shortcut, and a form that stays until the answer arrives, so
 * nothing typed is lost. A press sends once, however often it is repeated. Once the secret is created, what was typed
 * is gone from this page, even if the browser restores it; nothing is stored. Leaving with something typed asks first.
 */
function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind | null {
  const found = document.getElementById(id);
  return found instanceof kind ? found : null;
}

const secretField = () => element('secret', HTMLTextAreaElement);
const button = (id: 'create' | 'generate') => element(id, HTMLButtonElement);

const encoder = new TextEncoder();
let wasOver = false;
let isSending = false;
let isCreated = false;

function usedBytes(): number {
  return encoder.encode(secretField()?.value).length;
}

function limitBytes(): number {
  return Number(secretField()?.dataset.limit);
}

function count(): void {
  const counter = element('counter', HTMLParagraphElement);
  const spoken = element('counter-spoken', HTMLParagraphElement);
  if (counter === null || spoken === null) return;
  const numbers = new Intl.NumberFormat(document.documentElement.lang);
  const [used, limit] = [usedBytes(), limitBytes()];
  const isOver = used > limit;
  const text = (isOver ? counter.dataset.over : counter.dataset.within) ?? '';
  counter.textContent = text
    .replace('{used}', numbers.format(used))
    .replace('{limit}', numbers.format(limit));
  counter.classList.toggle('over', isOver);
  counter.hidden = false;
  if (isOver !== wasOver) spoken.textContent = counter.textContent;
  wasOver = isOver;
}

/** Explains at the field why the form is not sent, as the server would after receiving all of it. */
function stop(): void {
  const stopped = element('stopped', HTMLParagraphElement);
  document.getElementById('secret-wrong')?.remove();
  if (stopped !== null) stopped.textContent = stopped.dataset.tooLarge ?? '';
  secretField()?.setAttribute('aria-invalid', 'true');
  secretField()?.focus();
}

function admit(): void {
  const stopped = element('stopped', HTMLParagraphElement);
  if (stopped === null || stopped.textContent === '' || usedBytes() > limitBytes()) return;
  stopped.textContent = '';
  secretField()?.removeAttribute('aria-invalid');
}

function bodyOf(form: HTMLFormElement, pressed: HTMLButtonElement | null): URLSearchParams {
  const body = new URLSearchParams({ 'by-script': '1' });
  for (const [name, text] of new FormData(form)) if (typeof text === 'string') body.append(name, text);
  if (pressed !== null && pressed.name !== '') body.append(pressed.name, pressed.value);
  return body;
}

/** As a document, because the policy (Trusted Types) forbids turning text into markup. */
function send(form: HTMLFormElement, pressed: HTMLButtonElement | null): void {
  const address = new URL(pressed?.getAttribute('formaction') ?? form.action, location.href).href;
  const request = new XMLHttpRequest();
  request.responseType = 'document';
  request.onload = () => {
    setSending(false, pressed);
    take(request, address);
  };
  request.onerror = () => {
    setSending(false, pressed);
    sayNoAnswer(address, 0);
  };
  request.open('POST', address);
  request.send(bodyOf(form, pressed));
  setSending(true, pressed);
}

function setSending(isNow: boolean, pressed: HTMLButtonElement | null): void {
  isSending = isNow;
  for (const each of document.querySelectorAll<HTMLButtonElement>('#share button')) each.disabled = isNow;
  const said = element('sending', HTMLParagraphElement);
  if (said !== null) said.textContent = (isNow ? said.dataset.sending : '') ?? '';
  if (isNow) document.getElementById('unsent')?.replaceChildren();
  // A disabled button loses the focus.
  else if (document.activeElement === document.body) (pressed?.id ? pressed : button('create'))?.focus();
}

function take(request: XMLHttpRequest, address: string): void {
  const { status, responseXML: answer } = request;
  const created = status === 201 ? request.getResponseHeader('location') : null;
  const [title, lead] = [answer?.querySelector('main h1'), answer?.querySelector('main .lead')];
  if (created !== null) goOn(created);
  else if (answer?.getElementById('share')) show(answer);
  // An older server redirects to the receipt instead.
  else if (answer?.getElementById('watch')) goOn(request.responseURL);
  else if (title && lead) sayRefused(title.textContent ?? '', lead.textContent ?? '');
  else sayNoAnswer(address, status);
}

const typedFields = () =>
  document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    '#secret, #passphrase, #memo, #share [name="drawn"], #share [name^="aside-"]',
  );

function goOn(address: string): void {
  isCreated = true;
  for (const field of typedFields()) {
    field.value = '';
    field.defaultValue = '';
  }
  location.assign(address);
}

/** Shows the form that the server returned, with everything typed and the refusal. */
function show(answer: Document): void {
  const { lang, dir } = answer.documentElement;
  if (lang !== document.documentElement.lang) Object.assign(document.documentElement, { lang, dir });
  document.title = answer.title;
  document.body.replaceWith(document.adoptNode(answer.body));
  begin();
  document.querySelector<HTMLElement>('[autofocus]')?.focus();
}

/** Shows an error note from a template of the page. */
function note(template: string, fill: (note: DocumentFragment) => void): void {
  const found = element(template, HTMLTemplateElement);
  const place = document.getElementById('unsent');
  if (found === null || place === null) return;
  const filled = document.importNode(found.content, true);
  fill(filled);
  place.replaceChildren(filled);
  place.scrollIntoView({ block: 'nearest' });
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
  const isCreation = address === element('share', HTMLFormElement)?.action;
  note('no-answer-note', (filled) => {
    if (status !== 0) filled.querySelector('h2')?.append(` (${status})`);
    for (const each of filled.querySelectorAll<HTMLElement>('[data-outcome]'))
      if (!isCreation || each.dataset.outcome !== outcome) each.remove();
  });
}

function begin(): void {
  wasOver = false;
  count();
  const shortcut = element('shortcut', HTMLParagraphElement);
  if (shortcut !== null) shortcut.hidden = false;
}

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLTextAreaElement) || target.id !== 'secret') return;
  count();
  admit();
});

document.addEventListener('keydown', (event) => {
  const form = element('share', HTMLFormElement);
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
  const isCreation = pressed?.hasAttribute('formaction') !== true;
  if (isCreation && usedBytes() > limitBytes()) stop();
  else send(form, pressed);
});

window.addEventListener('beforeunload', (event) => {
  if (!isCreated && [...typedFields()].some(({ value }) => value !== '')) event.preventDefault();
});

// Restored from the back/forward cache.
window.addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  if (isCreated) location.replace(location.pathname + location.search);
  setSending(false, null);
  count();
});

begin();

export {};
