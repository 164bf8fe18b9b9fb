/** The ready-made message for a link, built the same way by pages and scripts. */

export interface MessageParts {
  readonly subject: string;
  /** Excludes the link, which follows this text. */
  readonly text: string;
}

export function withLink({ text }: MessageParts, link: string): string {
  return `${text}\n\n${link}`;
}

/** Encodes line breaks as CR LF (RFC 6068). */
export function mailtoAddress(subject: string, body: string): string {
  const lines = body.replaceAll('\n', '\r\n');
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines)}`;
}
