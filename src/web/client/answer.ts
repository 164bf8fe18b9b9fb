/**
 * Answers a request. The end of the ask link proves the whole link, opens the question and encrypts the answer. The form appears once
 * the question has opened, and keeps its text until the server has stored the answer; a second try sends the same bytes. The end of the answer's
 * own link is kept in memory, to look at the answer or take it back.
 */

import type { WireLook } from '../../../sdk/asking.ts';
import { generateValue } from '../../../sdk/drawing.ts';
import { askProofOf, openTerms, publicKeyIn, wrap } from '../../../sdk/request.ts';
import { type Content, prove, seal, sealedBytesOf } from '../../../sdk/sealing.ts';
import { sizeText } from '../../locale/size.ts';
import { thirtyTwoBytesForm } from '../../protocol/base64url.ts';
import { allCharacterSets } from '../../protocol/drawing.ts';
import { askLink, fragmentIn } from '../../protocol/link.ts';
import { at, byId, hide, press } from './dom.ts';
import { keepFragment, stopIncomplete } from './link-end.ts';
import {
  base,
  call,
  dateText,
  fill,
  key,
  knowsX25519,
  moment,
  notice,
  saySending,
  stop,
} from './requests.ts';
import { beginFile, contentNow, dropFile, hasFile, showFile } from './share-file.ts';
import { bytesIn, hasMouse, sayWrong, tellRoom } from './share-parts.ts';
import { showInstead } from './shown.ts';

type Look = WireLook & { readonly share_domain: string };

const path = `/request/${key}`;
const fragment = fragmentIn(location.hash.slice(1), 'ask') ?? '';
const { visitor, domain = '' } = notice.dataset;
const field = () => at('textarea', 'secret');
const notStretched = () => Promise.reject();

let proof = '';
let limitBytes = 0;
let isSending = false;
/** Kept until something else is typed, so that a second press sends the same bytes. */
let made: { readonly body: object; readonly end: string } | null = null;

/** What may be shown later stays in the page. */
function show(name: string): void {
  const later = document.querySelectorAll('main > template');
  const main = showInstead(`#${name}`);
  main?.append(...later);
  main?.querySelector('h1')?.focus();
}

function showForm(look: Look, prompt: string): void {
  const { asked_by: by, until } = look;
  limitBytes = look.max_sealed_bytes;
  show('asked');
  byId('prompt').append(prompt);
  fill(byId('until'), { date: dateText(until, moment) });
  const since = by === null ? '' : dateText(by.since, { year: 'numeric', month: 'long' });
  if (by !== null) fill(byId('by'), { address: `\u2068${by.username}\u2069`, date: since });
  hide('own', by === null || by.username !== visitor);
  const size = sizeText(document.documentElement.lang, limitBytes);
  for (const { dataset } of document.querySelectorAll<HTMLElement>('[data-too-large]'))
    dataset.tooLarge = dataset.tooLarge?.replace('{size}', size);
  beginFile({ onChange: renew, isSealing: () => true, limitBytes: () => limitBytes });
  renew();
  field().addEventListener('input', renew);
  if (hasMouse()) field().focus({ preventScroll: true });
  press('generate', draw);
  press('create', send);
  press('report', report);
  press('close', closeOwn);
}

function renew(): void {
  made = null;
  showFile();
  const { value } = field();
  tellRoom(hasFile() ? null : value, limitBytes);
  if (bytesIn(value) <= limitBytes) sayWrong('');
}

/** Draws a value where the cursor is, and selects it, so that the next press replaces it. */
function draw(): void {
  const { selectionStart, selectionEnd } = field();
  field().setRangeText(generateValue(20, allCharacterSets), selectionStart, selectionEnd, 'select');
  field().focus();
  renew();
}

const said = (name: string) =>
  byId('stopped').dataset[name] ?? notice.dataset[name] ?? notice.dataset.later ?? '';

function refuse(name: string): void {
  sayWrong(said(name));
  (hasFile() ? byId('file-remove') : field()).focus();
}

function setSending(isNow: boolean): void {
  isSending = isNow;
  byId('create').ariaDisabled = String(isNow);
  field().readOnly = isNow;
  saySending(isNow);
}

async function sealed(content: Content) {
  const sealing = await seal({ content, passphrase: null, stretch: notStretched });
  const wrapped = await wrap(sealing, key, publicKeyIn(fragment));
  return { body: { ask: proof, sealed: sealing.sealed, wrapped }, end: sealing.fragment };
}

async function send(): Promise<void> {
  if (isSending) return;
  const content = await contentNow();
  if (content.kind === 'text' && content.text === '') return refuse('empty');
  if (sealedBytesOf(content) > limitBytes) return refuse('tooLarge');
  setSending(true);
  try {
    made ??= await sealed(content);
  } catch (error) {
    setSending(false);
    return refuse((error as { code?: unknown }).code === 'invalid_field' ? 'illFormed' : 'cannot');
  }
  const { body, end } = made;
  const stored = await call<{ record: { secret_key: string } }>(`${path}/answer`, body);
  setSending(false);
  if ('error' in stored) return refuse(stored.error);
  const { secret_key: secretKey } = stored.said.record;
  dropFile();
  show('sent');
  press('still', () => askAfter(secretKey));
  press('take-back', () => takeBack(secretKey, end));
}

function tell(name: 'waits' | 'over' | 'later'): void {
  byId('outcome').replaceChildren(byId('outcome').dataset[name] ?? said(name));
  if (name === 'over') for (const id of ['still', 'take-back']) byId(id).remove();
}

async function askAfter(identifiers: string): Promise<void> {
  const found = await call<{ records: readonly { state: string }[] }>('/secret/status', { identifiers });
  if ('error' in found) tell('later');
  else tell(found.said.records[0]?.state === 'unknown' ? 'over' : 'waits');
}

async function takeBack(secretKey: string, end: string): Promise<void> {
  const { linkProof: link_proof, proof } = await prove(end, null, notStretched);
  const burned = await call(`/secret/${secretKey}/burn`, { link_proof, proof });
  if ('said' in burned) show('taken');
  else tell(burned.error === 'unknown_secret' ? 'over' : 'later');
}

async function report(): Promise<void> {
  const told = await call(`${path}/report`, { ask: proof });
  byId('report').parentElement?.replaceChildren(said('said' in told ? 'reported' : 'later'));
}

/** For the account that asked, whose answers link may be lost. */
async function closeOwn(): Promise<void> {
  const body = new URLSearchParams({ 'form-token': notice.dataset.formToken ?? '' });
  const closed = await fetch(`${location.pathname}/close`, { method: 'POST', body }).catch(() => null);
  if (closed?.ok) show('ended');
  else refuse('later');
}

async function begin(): Promise<void> {
  keepFragment(fragment);
  if (!thirtyTwoBytesForm.test(fragment)) return stopIncomplete();
  hide('needs-scripts', true);
  if (!(await knowsX25519())) return stop('cannot');
  const publicKey = publicKeyIn(fragment);
  proof = await askProofOf(publicKey);
  const looked = await call<{ record: Look }>(`${path}/look`, { ask: proof });
  if ('error' in looked) {
    if (looked.error === 'incomplete_link') stopIncomplete();
    else if (looked.error === 'unknown_request') show('unknown');
    else stop(looked.error);
    return;
  }
  const look = looked.said.record;
  // A request must not borrow another customer's share domain.
  if (domain !== '' && domain !== look.share_domain)
    return location.replace(`${askLink(key, '', base)}#${fragment}`);
  const prompt = await openTerms(look.terms, publicKey).catch(() => null);
  if (prompt === null) stop('changed');
  else if (look.state === 'open') showForm(look, prompt);
  else show(look.state);
}

window.addEventListener('beforeunload', (event) => {
  if (hasFile() || field().value) event.preventDefault();
});

void begin();
