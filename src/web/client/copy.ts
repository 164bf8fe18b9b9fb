/**
 * Buttons that copy: `<button type="button" hidden data-copy="SELECTOR">` copies the text of what the selector finds.
 *
 * Owns: showing these buttons, which do nothing without scripts, and saying in `#copied` (a status with `data-copied` and
 * `data-failed`) how it went. Invariant: nothing is copied unless a person presses, and nothing is ever read.
 */
const status = document.getElementById('copied');

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
    // Plain http has no clipboard, and a person may refuse it: then the older way, and then by hand.
    select(source);
    return document.execCommand('copy');
  }
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const source = document.querySelector(button.dataset.copy ?? '');
  if (source === null) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const isCopied = await copy(source);
    if (status === null) return;
    // Emptied first, so that the same words are spoken again.
    status.textContent = '';
    setTimeout(() => {
      status.textContent = (isCopied ? status.dataset.copied : status.dataset.failed) ?? '';
    }, 50);
  });
}

export {};
