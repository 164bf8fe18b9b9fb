/**
 * Buttons that copy: `<button type="button" hidden data-copy="SELECTOR">` copies the text of the element and reports in
 * `#copied` (a status with `data-copied`, which a button may have of its own, and `data-failed`). Nothing is copied without a press,
 * and nothing is ever read.
 */
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
    await navigator.clipboard.writeText(isField ? source.value : (source.textContent ?? ''));
    return true;
  } catch {
    // Plain http has no clipboard, and people may deny it: fall back to the older way, then to copying by hand.
    select(source);
    return document.execCommand('copy');
  }
}

export function beginCopying(): void {
  const status = document.getElementById('copied');
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const source = document.querySelector(button.dataset.copy ?? '');
    if (source === null) continue;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const isCopied = await copy(source);
      if (status === null) return;
      // Emptied first, so the same words are announced again.
      status.textContent = '';
      setTimeout(() => {
        const copied = button.dataset.copied ?? status.dataset.copied;
        status.textContent = (isCopied ? copied : status.dataset.failed) ?? '';
      }, 50);
    });
  }
}
