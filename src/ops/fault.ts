/**
 * What a log may say about an error.
 *
 * Owns: the reduction of an unknown thrown value to its class, its code and its place in the source. Invariant: the
 * message is never used: libraries quote what they were given in it (P18).
 */

const classForm = /^[A-Za-z]{1,24}$/;
const codeForm = /^([A-Z][A-Z0-9_]{1,30}|[a-z_]{1,24})$/;
const frameForm = /^\s+at (?:async )?(?:([\w.$<> ]{1,60}) )?\(?(?:file:\/\/)?(\S+?):(\d+):\d+\)?$/;
const maxFrames = 8;

function textOf(value: unknown, form: RegExp): string | null {
  return typeof value === 'string' && form.test(value) ? value : null;
}

/** The path from `src/` or `node_modules/` on: enough to find the line, and nothing of the machine. */
function shorten(path: string): string | null {
  return /(?:^|\/)((?:src|sdk|node_modules)\/[\w@.+/-]{1,150})$/.exec(path)?.[1] ?? null;
}

/** The stack starts with the message: frames are read only behind it, because a message can imitate a frame. */
function framesOf(error: Error): string[] {
  const stack = error.stack ?? '';
  const start = stack.indexOf(error.message);
  if (start === -1) return [];
  const frames: string[] = [];
  for (const line of stack.slice(start + error.message.length).split('\n')) {
    const [, name = '', path = '', lineNumber = ''] = frameForm.exec(line) ?? [];
    const place = shorten(path);
    if (place !== null && frames.length < maxFrames) frames.push(`${name} ${place}:${lineNumber}`.trim());
  }
  return frames;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return textOf(error.name, classForm) ?? 'Error';
}

function codeOf(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'code' in error ? textOf(error.code, codeForm) : null;
}

export interface FaultFields {
  readonly [field: string]: string | null | readonly string[];
  /** The error's class. */
  readonly error: string;
  readonly code: string | null;
  /** Class and code of what caused it, `SQLiteError SQLITE_FULL`. */
  readonly cause: string | null;
  readonly at: readonly string[];
}

export function describeFault(error: unknown): FaultFields {
  const cause = error instanceof Error ? error.cause : undefined;
  return {
    error: nameOf(error),
    code: codeOf(error),
    cause:
      cause === undefined ? null : [nameOf(cause), codeOf(cause)].filter((part) => part !== null).join(' '),
    at: error instanceof Error ? framesOf(error) : [],
  };
}
