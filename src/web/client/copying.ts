/**
 * Buttons that copy: `<button type="button" hidden data-copy="SELECTOR" data-copied="Copied">` copies the text of the element. The
 * button itself confirms: for two seconds it is `.is-copied`, and its `<span>` says `data-copied`. What happened is announced in
 * `#copied`, a status with `data-copied` and `data-failed`, which is seen only while it is `.failed`. Nothing is copied without a
 * press, and nothing is ever read.
 */
const shownMs = 2_000;

/** Of fields, which turn CR and CR LF into LF and cannot hold NUL: the texts that they show, exactly. */
export const exactTexts = new Map<Element, string>();

function select(source: Element): void {
  if (source instanceof HTMLTextAreaElement || source instanceof HTMLInputElement) {
    source.focus();
    source.select();
  } else {
    getSelection()?.selectAllChildren(source);
  }
}

async function copy(source: Element): Promise<boolean> {
  const isField = source instanceof HTMLTextAreaElement || source instanceof HTMLInputElement;
  try {
    const shown = isField ? source.value : (source.textContent ?? '');
    await navigator.clipboard.writeText(exactTexts.get(source) ?? shown);
    return true;
  } catch {
    // Plain http has no clipboard, and people may deny it: fall back to the older way, then to copying by hand.
    select(source);
    return document.execCommand('copy');
  }
}

/** Pressed again meanwhile, it confirms for longer. */
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
    // So that what is beside it does not move, nor the page widen on a phone that is turned.
    button.style.minInlineSize = `min(100%, ${button.offsetWidth}px)`;
    show(true);
    timer = setTimeout(show, shownMs, false);
  };
}

function announce(isCopied: boolean, button: HTMLButtonElement): void {
  const status = document.getElementById('copied');
  if (status === null) return;
  // Emptied first, so the same words are announced again.
  status.textContent = '';
  status.classList.toggle('failed', !isCopied);
  setTimeout(() => {
    const copied = status.dataset.copied ?? button.dataset.copied;
    status.textContent = (isCopied ? copied : status.dataset.failed) ?? '';
  }, 50);
}

/** @param within the part of the page that has been added, where it is not the whole */
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
