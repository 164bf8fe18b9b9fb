/** The ready message for a link; pages and scripts build it alike. */

export interface MessageParts {
  readonly subject: string;
  /** Without the link, which follows it. */
  readonly text: string;
}

export function withLink({ text }: MessageParts, link: string): string {
  return `${text}\n\n${link}`;
}

/** RFC 6068: line breaks are CR LF. */
export function mailtoAddress(subject: string, body: string): string {
  const lines = body.replaceAll('\n', '\r\n');
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines)}`;
}
