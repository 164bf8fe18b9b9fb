/**
 * A file beside the text: chosen, dropped or pasted. It is sealed in this browser or not sent at all; where the server would
 * encrypt, the text of a text file goes into the field instead.
 */
import type { Content } from '../../../sdk/sealing.ts';
import { sizeText } from '../../locale/size.ts';
import { element, hasMouse, sayWrong, secretField } from './share-parts.ts';
import { isSealing, limitBytes, sealedFileBytes } from './share-sealing.ts';

let file: File | null = null;
let onChange: () => void = () => {};

export const hasFile = (): boolean => file !== null;

export function dropFile(): void {
  file = null;
}

export async function contentNow(): Promise<Content> {
  if (file === null) return { kind: 'text', text: secretField()?.value ?? '' };
  const { name, type } = file;
  return { kind: 'file', name, type, bytes: new Uint8Array(await file.arrayBuffer()) };
}

function said(name: string): string {
  return element('attachment', HTMLDivElement)?.dataset[name] ?? '';
}

/** Refused before it is read. */
export function isFileTooLarge(): boolean {
  return file !== null && sealedFileBytes(file) > limitBytes();
}

export const fileTooLargeText = () => said('tooLarge');

/** The file takes the place of the field, whose text stays. */
export function showFile(): void {
  const shown = element('attachment', HTMLDivElement);
  const field = secretField();
  const pick = element('file-pick', HTMLSpanElement);
  if (shown === null || field === null || pick === null) return;
  shown.hidden = file === null;
  field.hidden = file !== null;
  field.required = file === null;
  pick.hidden = file !== null || !isSealing();
  field.dataset.plain ??= field.placeholder;
  const takesFile = hasMouse() && isSealing();
  field.placeholder = (takesFile ? field.dataset.orFile : field.dataset.plain) ?? '';
  if (file === null) return;
  document.getElementById('file-name')?.replaceChildren(file.name);
  document.getElementById('file-size')?.replaceChildren(sizeText(document.documentElement.lang, file.size));
  const instead = element('file-instead', HTMLParagraphElement);
  if (instead !== null) instead.hidden = field.value === '';
}

/** `null` also for what the field would change without a word: it takes CR LF for a line break, as in a text that is pasted. */
async function textOf(given: File): Promise<string | null> {
  if (given.size > limitBytes()) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await given.arrayBuffer());
    return /\0|\r(?!\n)/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Nothing that was typed is replaced. */
async function putText(given: File): Promise<void> {
  const field = secretField();
  const text = await textOf(given);
  if (field === null) return;
  if (text === null) {
    sayWrong(said('notText'));
    return;
  }
  field.setRangeText(text, field.selectionEnd, field.selectionEnd, 'end');
  field.focus();
}

async function take(files: FileList | null | undefined): Promise<void> {
  const [given] = files ?? [];
  if (given === undefined) return;
  sayWrong('');
  if ((files?.length ?? 0) > 1) sayWrong(said('one'));
  else if (!isSealing()) await putText(given);
  else if (sealedFileBytes(given) > limitBytes()) sayWrong(said('tooLarge'));
  else file = given;
  onChange();
  if (file === given) document.getElementById('file-remove')?.focus();
}

function beginPicking(): void {
  const input = element('file', HTMLInputElement);
  element('file-button', HTMLButtonElement)?.addEventListener('click', () => input?.click());
  input?.addEventListener('change', () => {
    void take(input.files);
  });
  element('file-remove', HTMLButtonElement)?.addEventListener('click', () => {
    file = null;
    if (input !== null) input.value = '';
    onChange();
    secretField()?.focus();
  });
}

/** For each form that the page shows. @param changed after each change of the file or the text */
export function beginFile(changed: () => void): void {
  onChange = changed;
  beginPicking();
}

const hasFiles = (transfer: DataTransfer | null) => transfer?.types.includes('Files') === true;
const mark = (isOver: boolean) => element('share', HTMLFormElement)?.classList.toggle('dropping', isOver);

document.addEventListener('dragover', (event) => {
  if (secretField() === null || !hasFiles(event.dataTransfer)) return;
  event.preventDefault();
  mark(true);
});
document.addEventListener('dragleave', ({ relatedTarget }) => {
  if (relatedTarget === null) mark(false);
});
document.addEventListener('drop', (event) => {
  mark(false);
  if (secretField() === null || !hasFiles(event.dataTransfer)) return;
  event.preventDefault();
  void take(event.dataTransfer?.files);
});
document.addEventListener('paste', (event) => {
  const { clipboardData } = event;
  // Programs also put pictures beside a text that is copied.
  if (!hasFiles(clipboardData) || clipboardData?.types.includes('text/plain')) return;
  event.preventDefault();
  void take(clipboardData?.files);
});
