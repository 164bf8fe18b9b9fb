/**
 * A file instead of a text: chosen, dropped or pasted. This browser seals it or sends nothing. If the server would encrypt, a text file's
 * contents go into the field instead.
 */
import { type Content, sealedBytesOf } from '../../../sdk/sealing.ts';
import { sizeText } from '../../locale/size.ts';
import { at, byId, hide, press } from './dom.ts';
import { hasMouse, sayWrong, secretField } from './share-parts.ts';

interface FileForm {
  /** Called after each change. */
  readonly onChange: () => void;
  readonly isSealing: () => boolean;
  /** How much fits, as it is now encrypted. */
  readonly limitBytes: () => number;
}

let file: File | null = null;
let { onChange, isSealing, limitBytes }: FileForm = {
  onChange: () => {},
  isSealing: () => false,
  limitBytes: () => 0,
};

export const hasFile = (): boolean => file !== null;

export function dropFile(): void {
  file = null;
}

export async function contentNow(): Promise<Content> {
  if (file === null) return { kind: 'text', text: secretField()?.value ?? '' };
  const { name, type } = file;
  return { kind: 'file', name, type, bytes: new Uint8Array(await file.arrayBuffer()) };
}

function sealedFileBytes({ name, type, size }: File): number {
  return sealedBytesOf({ kind: 'file', name, type, bytes: new Uint8Array(0) }) + size;
}

function said(name: string): string {
  return byId('attachment').dataset[name] ?? '';
}

export function isFileTooLarge(): boolean {
  return file !== null && sealedFileBytes(file) > limitBytes();
}

export const fileTooLargeText = () => said('tooLarge');

export function showFile(): void {
  const field = secretField();
  if (field === null) return;
  hide('attachment', file === null);
  field.hidden = file !== null;
  field.required = file === null;
  hide('file-pick', file !== null || !isSealing());
  field.dataset.plain ??= field.placeholder;
  const takesFile = hasMouse() && isSealing();
  field.placeholder = (takesFile ? field.dataset.orFile : field.dataset.plain) ?? '';
  if (file === null) return;
  byId('file-name').replaceChildren(file.name);
  byId('file-size').replaceChildren(sizeText(document.documentElement.lang, file.size));
  hide('file-instead', field.value === '');
}

/** Also returns `null` for text that the field would alter. CR LF is fine: a field turns it into a line break, as in pasted text. */
async function textOf(given: File): Promise<string | null> {
  if (given.size > limitBytes()) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await given.arrayBuffer());
    return /\0|\r(?!\n)/.test(text) ? null : text;
  } catch {
    return null;
  }
}

function put(text: string | null): void {
  const field = secretField();
  sayWrong(text === null ? said('notText') : '');
  if (field === null || text === null) return;
  field.setRangeText(text, field.selectionEnd, field.selectionEnd, 'end');
  field.focus();
  onChange();
}

async function take(files: FileList | null | undefined): Promise<void> {
  const [given] = files ?? [];
  if (given === undefined) return;
  sayWrong('');
  if ((files?.length ?? 0) > 1) sayWrong(said('one'));
  else if (!isSealing()) put(await textOf(given));
  else if (sealedFileBytes(given) > limitBytes()) sayWrong(said('tooLarge'));
  else file = given;
  onChange();
  if (file === given) byId('file-remove').focus();
}

/** Call this for each form that the page shows. */
export function beginFile(form: FileForm): void {
  ({ onChange, isSealing, limitBytes } = form);
  const input = at('input', 'file');
  press('file-button', () => input.click());
  input.addEventListener('change', () => {
    void take(input.files);
  });
  press('file-remove', () => {
    file = null;
    input.value = '';
    onChange();
    secretField()?.focus();
  });
}

const hasFiles = (transfer: DataTransfer | null) => transfer?.types.includes('Files') === true;

const hasText = (transfer: DataTransfer | null) => transfer?.types.includes('text/plain') === true;

/** Any text but one for another field, unless a file is in the place of the secret's field. */
const takesText = ({ target }: Event) =>
  !(file || (target instanceof Element && target.matches(':read-write')));

/** Whether the page's own link or text is dragged, which belongs in no field. */
let isOwn = false;
for (const type of ['dragstart', 'dragend'])
  document.addEventListener(type, () => {
    isOwn = type === 'dragstart';
  });

const takes = (event: DragEvent) =>
  secretField() !== null &&
  !isOwn &&
  (hasFiles(event.dataTransfer) || (hasText(event.dataTransfer) && takesText(event)));
const setDropping = (isOver: boolean) => byId('share').classList.toggle('dropping', isOver);

document.addEventListener('dragover', (event) => {
  if (!takes(event)) return;
  event.preventDefault();
  setDropping(true);
});
document.addEventListener('dragleave', ({ relatedTarget }) => {
  if (relatedTarget === null) setDropping(false);
});
document.addEventListener('drop', (event) => {
  setDropping(false);
  const { dataTransfer } = event;
  if (!takes(event)) return;
  event.preventDefault();
  if (hasFiles(dataTransfer)) void take(dataTransfer?.files);
  else put(dataTransfer?.getData('text/plain') ?? '');
});
document.addEventListener('paste', (event) => {
  const { clipboardData } = event;
  // Some programs copy a picture along with a text.
  const isText = hasText(clipboardData);
  if (isText ? !takesText(event) : !hasFiles(clipboardData)) return;
  event.preventDefault();
  if (isText) put(clipboardData?.getData('text/plain') ?? '');
  else void take(clipboardData?.files);
});
