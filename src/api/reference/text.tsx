/** Makes the API reference's anchors, and the code in its sentences. */
export function anchorOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

export function recordAnchor(name: string): string {
  return `record-${anchorOf(name)}`;
}

export function errorAnchor(code: string): string {
  return `error-${anchorOf(code)}`;
}

export function codeList(texts: readonly string[]) {
  return texts.map((text, index) => (
    <>
      {index > 0 && ', '}
      <code>{text}</code>
    </>
  ));
}

/** Treats text between backticks as code. */
export function withCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}
