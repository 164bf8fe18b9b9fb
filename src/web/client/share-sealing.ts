/**
 * Where the secret is encrypted: in this browser, if it can and that is chosen, or by the server. The page says which at every
 * moment. Until this script has taken over, it says "by the server", which is what a form without scripts gets.
 */
import { type Content, seal, sealedBytesOf } from '../../../sdk/sealing.ts';
import { standInsBeside } from './share-draw.ts';
import { bodyWithout, element, say, secretField, takeNames } from './share-parts.ts';
import { stretchInWorker } from './stretching.ts';

const place = () => element('sealing', HTMLDetailsElement);
const choice = () => element('seal', HTMLInputElement);

/** Kept when a refused form replaces the page; `null`: as the page starts. */
let chosen: boolean | null = null;

/** WebCrypto exists on https and on this machine. Without cookies the receipt could not show the link. */
function canSeal(): boolean {
  return place() !== null && isSecureContext && navigator.cookieEnabled;
}

function mails(): boolean {
  return (element('recipient', HTMLInputElement)?.value.trim() ?? '') !== '';
}

export function isSealing(): boolean {
  return canSeal() && choice()?.checked === true && !mails();
}

/** In bytes, of what would be sent now. */
export function limitBytes(): number {
  return Number(isSealing() ? place()?.dataset.limit : secretField()?.dataset.limit);
}

export function tooLargeText(): string {
  return (isSealing() ? place() : element('stopped', HTMLParagraphElement))?.dataset.tooLarge ?? '';
}

function stateNow(hasFile: boolean): 'insecure' | 'sealed' | 'file' | 'mail' | 'server' {
  if (!canSeal()) return 'insecure';
  if (isSealing()) return 'sealed';
  if (hasFile) return 'file';
  return mails() ? 'mail' : 'server';
}

let told: ReturnType<typeof stateNow> | null = null;

/** To call after each change. */
export function tellEncryption(hasFile: boolean): void {
  const said = document.getElementById('encryption');
  const more = document.getElementById('encryption-more');
  if (said === null || more === null) return;
  const state = stateNow(hasFile);
  const summary = said.closest('summary');
  const isNews = told !== null && told !== state;
  summary?.setAttribute('data-state', state);
  say('encryption', said.dataset[state] ?? said.dataset.server);
  say('encryption-more', more.dataset[state]);
  if (isNews) say('encryption-spoken', summary?.textContent ?? '');
  told = state;
}

/** The choice, where it is to be seen: what is wrong can be put right there. */
export function openEncryption(): void {
  const shown = place();
  if (shown !== null) shown.open = true;
}

/** @param onChange whenever the choice changes */
export function beginSealing(onChange: () => void): void {
  const box = choice();
  const label = box?.closest('label');
  if (box === null || !label || !canSeal()) return;
  takeNames();
  label.hidden = false;
  if (chosen !== null) box.checked = chosen;
  box.addEventListener('change', () => {
    chosen = box.checked;
    onChange();
  });
}

export interface SealedForm {
  readonly body: URLSearchParams;
  /** What the receipt's page needs beside the server's answer: it goes nowhere else. */
  readonly fragment: string;
}

/** Everything of the form but what only the reader may see, which is in it sealed. Rejects if it cannot be sealed. */
export async function sealForm(form: HTMLFormElement, content: () => Promise<Content>): Promise<SealedForm> {
  const body = bodyWithout(form);
  body.delete('recipient');
  for (const [name, text] of standInsBeside()) body.append(name, text);
  const typed = element('passphrase', HTMLInputElement)?.value ?? '';
  const passphrase = typed === '' ? null : typed;
  const { sealed, fragment } = await seal({ content: await content(), passphrase, stretch: stretchInWorker });
  body.append('sealed-version', String(sealed.v));
  body.append('sealed-ciphertext', sealed.ciphertext);
  body.append('sealed-link', sealed.link_hash);
  body.append('sealed-proof', sealed.proof_hash);
  body.append('sealed-passphrase', sealed.passphrase ? '1' : '');
  return { body, fragment };
}

/** As the plan counts it. */
export function sealedFileBytes({ name, type, size }: File): number {
  return sealedBytesOf({ kind: 'file', name, type, bytes: new Uint8Array(0) }) + size;
}
