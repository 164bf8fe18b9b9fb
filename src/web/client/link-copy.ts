/**
 * Copies a link before it exists: a page may copy only during a press, so the press begins with a promise of the text, which the response
 * settles. If the browser refuses or has no such thing, nothing is copied and nothing fails.
 */

/** Copies the link, or nothing for `null`. Resolves soon, to whether the clipboard has it. */
export type FinishLinkCopy = (link: string | null) => Promise<boolean>;

/** A copy that has not finished by then no longer keeps the receipt waiting. */
const patienceMs = 1_000;

export function beginLinkCopy(): FinishLinkCopy {
  let settle = (_link: string | null) => {};
  const text = new Promise<Blob>((resolve, reject) => {
    settle = (link) => (link === null ? reject() : resolve(new Blob([link], { type: 'text/plain' })));
  });
  const copied = write(text).then(
    () => true,
    () => false,
  );
  return (link) => {
    settle(link);
    return Promise.race([copied, new Promise<false>((give) => setTimeout(give, patienceMs, false))]);
  };
}

/** Rejects, rather than throws, if the browser has no `ClipboardItem`. */
async function write(text: Promise<Blob>): Promise<void> {
  text.catch(() => {});
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text })]);
}
