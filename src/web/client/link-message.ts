/** The ready message that goes with a link, as the page and its script put it together. */

export interface MessageParts {
  readonly subject: string;
  /** Without the link, which follows it. */
  readonly text: string;
}

export function withLink({ text }: MessageParts, link: string): string {
  return `${text}\n\n${link}`;
}

/** Opens in the reader's own mail program (RFC 6068: line breaks are CR LF). */
export function mailtoAddress(subject: string, body: string): string {
  const lines = body.replaceAll('\n', '\r\n');
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines)}`;
}
