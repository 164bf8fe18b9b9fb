/**
 * Copies a link before it exists: a page may copy only during a press, so the press begins with a promise of the text, which the response
 * settles. If the browser refuses or has no such thing, nothing is copied and nothing fails.
 */

export interface LinkCopy {
  /** Copies the link. Resolves soon, to whether the clipboard has it. */
  finish(link: string): Promise<boolean>;
  cancel(): void;
}

/** A copy that has not finished by then no longer keeps the receipt waiting. */
const patienceMs = 1_000;

export function beginLinkCopy(): LinkCopy {
  let settle = (_link: string | null) => {};
  const text = new Promise<Blob>((resolve, reject) => {
    settle = (link) => (link === null ? reject() : resolve(new Blob([link], { type: 'text/plain' })));
  });
  text.catch(() => {});
  const copied = write(text).then(
    () => true,
    () => false,
  );
  return {
    finish(link) {
      settle(link);
      return Promise.race([copied, new Promise<false>((give) => setTimeout(give, patienceMs, false))]);
    },
    cancel: () => settle(null),
  };
}

/** Rejects, rather than throws, if the browser has no `ClipboardItem`. */
async function write(text: Promise<Blob>): Promise<void> {
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text })]);
}
