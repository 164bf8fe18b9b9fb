/**
 * Where the secret is encrypted: in this browser, if possible and chosen, or by the server. The page always shows which; until this script
 * runs, it shows "by the server", which is true for a form without scripts.
 */
import { type Content, seal } from '../../../sdk/sealing.ts';
import { find } from './dom.ts';
import { standInsBeside } from './share-draw.ts';
import { shareFields } from './share-fields.ts';
import { bodyWithout, hasPeople, say, secretField, takeNames } from './share-parts.ts';
import { stretchInWorker } from './stretching.ts';

const place = () => find('#sealing', HTMLDetailsElement);
const choice = () => find('#seal', HTMLInputElement);

/** Kept when a refused form replaces the page. */
let chosen: boolean | null = null;

/** WebCrypto needs https or localhost. Without cookies, the receipt could not show the link. */
function canSeal(): boolean {
  return place() !== null && isSecureContext && navigator.cookieEnabled;
}

export function mails(): boolean {
  const isEach = find(`#${shareFields.mailsEach}`, HTMLInputElement)?.checked === true && hasPeople();
  return isEach || (find('#recipient', HTMLInputElement)?.value.trim() ?? '') !== '';
}

export function isSealing(): boolean {
  return canSeal() && choice()?.checked === true && !mails();
}

export function limitBytes(): number {
  return Number(isSealing() ? place()?.dataset.limit : secretField()?.dataset.limit);
}

export function tooLargeText(): string {
  return (isSealing() ? place() : find('#stopped', HTMLParagraphElement))?.dataset.tooLarge ?? '';
}

function stateNow(hasFile: boolean): 'insecure' | 'sealed' | 'file' | 'mail' | 'server' {
  if (!canSeal()) return 'insecure';
  if (isSealing()) return 'sealed';
  if (hasFile) return 'file';
  return mails() ? 'mail' : 'server';
}

let toldState: ReturnType<typeof stateNow> | null = null;

export function tellEncryption(hasFile: boolean): void {
  const said = document.getElementById('encryption');
  const more = document.getElementById('encryption-more');
  if (said === null || more === null) return;
  const state = stateNow(hasFile);
  const summary = said.closest('summary');
  const isNews = toldState !== null && toldState !== state;
  summary?.setAttribute('data-state', state);
  say('encryption', said.dataset[state] ?? said.dataset.server);
  say('encryption-why', document.getElementById('encryption-why')?.dataset[state]);
  say('encryption-more', more.dataset[state]);
  if (isNews) say('encryption-spoken', summary?.textContent ?? '');
  toldState = state;
}

export function openEncryption(): void {
  const shown = place();
  if (shown !== null) shown.open = true;
}

export function beginSealing(onChange: () => void): void {
  const box = choice();
  const label = box?.closest('label');
  if (box === null || !label || !canSeal()) return;
  takeNames();
  label.hidden = false;
  chosen ??= box.checked;
  box.checked = chosen;
  box.addEventListener('change', () => {
    chosen = box.checked;
    onChange();
  });
}

/** Returns the form with its content sealed, and the end of its link. Rejects if sealing fails. */
export async function sealForm(form: HTMLFormElement, content: () => Promise<Content>) {
  const body = bodyWithout(form);
  body.delete(shareFields.recipient);
  for (const [name, text] of standInsBeside()) body.append(name, text);
  const typed = find('#passphrase', HTMLInputElement)?.value ?? '';
  const passphrase = typed === '' ? null : typed;
  const note = find('#note', HTMLInputElement)?.value ?? '';
  const input = { content: await content(), passphrase, note, stretch: stretchInWorker };
  const { sealed, fragment } = await seal(input);
  body.append(shareFields.sealedVersion, String(sealed.v));
  body.append(shareFields.sealedCiphertext, sealed.ciphertext);
  body.append(shareFields.sealedLink, sealed.link_hash);
  body.append(shareFields.sealedProof, sealed.proof_hash);
  body.append(shareFields.sealedPassphrase, sealed.passphrase ? '1' : '');
  body.append(shareFields.sealedNote, sealed.note ?? '');
  return { body, fragment };
}
