/**
 * The terminal: what a person types or pipes, and how times are printed.
 *
 * A passphrase is never echoed. A value is read from standard input, never from an argument, which other users of the machine and
 * the shell's history would see (P18).
 */
import { readSync, writeSync } from 'node:fs';

export interface Terminal {
  out(content: string | Uint8Array): void;
  err(text: string): void;
  /** What was asked for and is no result: on standard error, and with `--quiet` too. */
  show(text: string): void;
  /** Standard input is a terminal. */
  readonly isInteractive: boolean;
  /** Standard output is a terminal. */
  readonly isOutputSeen: boolean;
  /** Standard error is a terminal. */
  readonly isErrorSeen: boolean;
  /** Does the work, and shows that it goes on when it takes more than a second and standard error is a terminal. */
  waiting<Result>(words: string, work: () => Promise<Result>): Promise<Result>;
  /** Everything on standard input. */
  readInput(): Promise<Uint8Array>;
  /** One line, as typed; `null` without a terminal or at the end of input. */
  ask(question: string): Promise<string | null>;
  /** One line, not echoed; `null` without a terminal. @throws Interrupted at Ctrl-C */
  askHidden(question: string): Promise<string | null>;
}

/** Ctrl-C at a question that is read key by key; elsewhere it is a signal, which ends the process with the same exit code. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Writes everything, even to a pipe that takes it in parts. */
function writeAll(fileDescriptor: number, content: string | Uint8Array): void {
  let rest: Uint8Array = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fileDescriptor, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      // A command has nothing else to do while its reader catches up.
      Bun.sleepSync(1);
    }
  }
}

async function readAll(): Promise<Uint8Array> {
  return new Uint8Array(await new Response(Bun.stdin.stream()).arrayBuffer());
}

const enter = [0x0a, 0x0d, 0x04];
const callOff = 0x03;
const erase = [0x08, 0x7f];
const eraseLine = 0x15;
const firstPrintable = 0x20;

/** Takes bytes until Enter. Raw mode: nothing is echoed and we see every key. */
function readHiddenLine(): string {
  const bytes: number[] = [];
  const one = new Uint8Array(1);
  while (readSync(0, one) === 1) {
    const byte = one[0] ?? 0;
    if (byte === callOff) throw new Interrupted();
    if (enter.includes(byte)) break;
    if (byte === eraseLine) bytes.length = 0;
    else if (erase.includes(byte)) eraseCharacter(bytes);
    // Ctrl-Z and its like would be in a passphrase that nobody can type again.
    else if (byte >= firstPrintable) bytes.push(byte);
  }
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
}

/** A character is its first byte and the continuation bytes (10xxxxxx) after it. */
function eraseCharacter(bytes: number[]): void {
  let byte = bytes.pop();
  while (byte !== undefined && (byte & 0xc0) === 0x80) byte = bytes.pop();
}

/** The terminal delivers whole lines. */
function readLine(): string | null {
  const chunk = new Uint8Array(1_024);
  const length = readSync(0, chunk);
  return length === 0 ? null : new TextDecoder().decode(chunk.subarray(0, length));
}

const patienceMs = 1_000;
const frameMs = 100;
const frames = ['|', '/', '-', '\\'] as const;

/** One line, drawn over itself and taken away at the end. */
async function withSpinner<Result>(words: string, work: () => Promise<Result>): Promise<Result> {
  let frame = 0;
  const draw = () => writeAll(2, `\r${frames[frame++ % frames.length]} ${words} …`);
  let drawing: Timer | undefined;
  const patience = setTimeout(() => {
    drawing = setInterval(draw, frameMs);
  }, patienceMs);
  try {
    return await work();
  } finally {
    clearTimeout(patience);
    clearInterval(drawing);
    if (frame > 0) writeAll(2, '\r\u001b[K');
  }
}

/** Keeps words back until the command fails or asks. */
export function heldBack(terminal: Terminal): { readonly terminal: Terminal; release(): void } {
  let words = '';
  const release = () => {
    const released = words;
    words = '';
    if (released !== '') terminal.err(released);
  };
  const afterWords = <Result>(ask: () => Promise<Result>): Promise<Result> => {
    release();
    return ask();
  };
  const err = (text: string) => {
    words += text;
  };
  return {
    terminal: {
      ...terminal,
      err,
      waiting: (_words, work) => work(),
      readInput: () => (terminal.isInteractive ? afterWords(terminal.readInput) : terminal.readInput()),
      ask: (question) => afterWords(() => terminal.ask(question)),
      askHidden: (question) => afterWords(() => terminal.askHidden(question)),
    },
    release,
  };
}

/** Control and direction characters, which could take over a terminal; not a line's end and not a tab. */
const unseen = /(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}]/gu;

/** A stranger's text as a terminal may show it. */
export function escaped(text: string): string {
  return text.replace(unseen, (character) => {
    const number = character.codePointAt(0) ?? 0;
    return number < 256 ? `\\x${number.toString(16).padStart(2, '0')}` : `\\u{${number.toString(16)}}`;
  });
}

export function openTerminal(): Terminal {
  const isInteractive = process.stdin.isTTY === true;
  const isErrorSeen = process.stderr.isTTY === true;
  return {
    out: (content) => writeAll(1, content),
    err: (text) => writeAll(2, text),
    show: (text) => writeAll(2, text),
    isInteractive,
    isOutputSeen: process.stdout.isTTY === true,
    isErrorSeen,
    waiting: (words, work) => (isErrorSeen ? withSpinner(words, work) : work()),
    readInput: readAll,
    async ask(question) {
      if (!isInteractive) return null;
      writeAll(2, question);
      return readLine();
    },
    async askHidden(question) {
      if (!isInteractive) return null;
      writeAll(2, question);
      process.stdin.setRawMode(true);
      try {
        return readHiddenLine();
      } finally {
        process.stdin.setRawMode(false);
        writeAll(2, '\n');
      }
    },
  };
}

/** ISO 8601, to the second. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `1 secret`, `2 secrets`. */
export function plural(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

/** `6 days 23 hours`: the largest unit that fits and the next one. */
export function durationWords(seconds: number): string {
  const at = units.findIndex(([, size]) => seconds >= size);
  const [largest, next] = at === -1 ? units.slice(-1) : units.slice(at);
  if (largest === undefined) return '';
  const words = plural(Math.floor(seconds / largest[1]), largest[0]);
  const below = next === undefined ? 0 : Math.floor((seconds % largest[1]) / next[1]);
  return next === undefined || below === 0 ? words : `${words} ${plural(below, next[0])}`;
}
