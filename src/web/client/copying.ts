/**
 * Buttons that copy or share a text. `<button type="button" hidden data-copy="SELECTOR" data-copied="Copied">` copies the element's text.
 * For two seconds, the button has the class `is-copied` and its `<span>` shows `data-copied`. The status `#copied` announces its own
 * `data-copied` or `data-failed`, and is visible only with the class `failed`. Only a press copies, and nothing reads the clipboard.
 */
const shownMs = 2_000;

/** The exact texts of fields, because a field turns CR and CR LF into LF and cannot contain NUL. */
export const exactTexts = new Map<Element, string>();

async function copy(source: Element): Promise<boolean> {
  const field = source instanceof HTMLTextAreaElement || source instanceof HTMLInputElement ? source : null;
  try {
    await navigator.clipboard.writeText(exactTexts.get(source) ?? field?.value ?? source.textContent ?? '');
    return true;
  } catch {
    // Plain http has no clipboard, and people may deny access: selecting the text lets them copy it by hand.
    field?.focus();
    if (field === null) getSelection()?.selectAllChildren(source);
    else field.select();
    return document.execCommand('copy');
  }
}

function confirming(button: HTMLButtonElement): () => void {
  const label = button.querySelector('span');
  const { copied } = button.dataset;
  if (label === null || copied === undefined) return () => {};
  const usual = label.textContent;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (isCopied: boolean) => {
    label.textContent = isCopied ? copied : usual;
    button.classList.toggle('is-copied', isCopied);
  };
  return () => {
    clearTimeout(timer);
    // Keeps the button's neighbours in place, and keeps the page from widening when a phone is rotated.
    button.style.minInlineSize = `min(100%, ${button.offsetWidth}px)`;
    show(true);
    timer = setTimeout(show, shownMs, false);
  };
}

function announce(isCopied: boolean, button: HTMLButtonElement): void {
  const status = document.getElementById('copied');
  if (status === null) return;
  // Screen readers announce the same text again only if it has changed in between.
  status.textContent = '';
  status.classList.toggle('failed', !isCopied);
  setTimeout(() => {
    const copied = status.dataset.copied ?? button.dataset.copied;
    status.textContent = (isCopied ? copied : status.dataset.failed) ?? '';
  }, 50);
}

export function beginCopying(within: ParentNode = document): void {
  for (const button of within.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const source = document.querySelector(button.dataset.copy ?? '');
    if (source === null) continue;
    const confirm = confirming(button);
    button.hidden = false;
    button.addEventListener('click', async () => {
      const isCopied = await copy(source);
      if (isCopied) confirm();
      announce(isCopied, button);
    });
  }
}

/** Shows a hidden button that shares with another app, if the system supports it. @param data read at each press */
export function offerSharing(button: HTMLButtonElement | null, data: () => ShareData): void {
  if (button === null || typeof navigator.share !== 'function') return;
  button.hidden = false;
  button.addEventListener('click', () => {
    // Closing the system's dialog also rejects the promise.
    navigator.share(data()).catch(() => {});
  });
}

export function beginTelling(): void {
  beginCopying();
  const button = document.querySelector<HTMLButtonElement>('button[data-share-text]');
  const text = document.querySelector(button?.dataset.shareText ?? 'none')?.textContent ?? '';
  offerSharing(button, () => ({ text }));
  const tell = document.querySelector<HTMLDetailsElement>('.tell');
  // On a phone, the press that unfolds the text also opens the system's dialog.
  tell?.addEventListener('toggle', () => {
    if (tell.open && matchMedia('(pointer: coarse)').matches) button?.click();
  });
}
