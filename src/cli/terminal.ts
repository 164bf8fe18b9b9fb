/**
 * Reads what a person types or pipes, and formats what they read.
 *
 * A passphrase is never echoed. A value is read from standard input, never from an argument, which would be visible to other users and in
 * the shell history (P18).
 */
import { readSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

/** Foreground colours of ECMA-48, by what they say. */
const tints = { refusal: 31, done: 32, warning: 33, link: 36 } as const;

export type Tint = keyof typeof tints;

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

export interface Terminal {
  out(content: string | Uint8Array): void;
  err(text: string): void;
  /** Prints output that was requested but is not a result, on standard error and even with `--quiet`. */
  show(text: string): void;
  /** Whether standard input is a terminal; the next two fields say the same of standard output and standard error. */
  readonly isInteractive: boolean;
  readonly isOutputSeen: boolean;
  readonly isErrorSeen: boolean;
  /** Colours text on a terminal; changes nothing for a program, with NO_COLOR or on a dumb terminal. */
  tint(stream: 'out' | 'err', tint: Tint, text: string): string;
  /** Shows a spinner on a terminal if the work takes more than a second. */
  waiting<Result>(words: string, work: () => Promise<Result>): Promise<Result>;
  readInput(): Promise<Uint8Array>;
  /** Standard input and output, for a protocol. */
  streams(): Streams;
  /** Reads a line; returns `null` without a terminal or at the end of input. */
  ask(question: string): Promise<string | null>;
  /** Reads a line without echo; returns `null` without a terminal. @throws Interrupted at Ctrl-C */
  askHidden(question: string): Promise<string | null>;
}

/** Ctrl-C at a prompt in raw mode. Elsewhere, Ctrl-C is a signal with the same exit code. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Writes everything, even to a pipe that accepts only part at a time. */
function writeAll(fileDescriptor: number, content: string | Uint8Array): void {
  let rest: Uint8Array = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fileDescriptor, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
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

/** Reads a line in raw mode, which echoes nothing and delivers every key. */
function readHiddenLine(): string {
  const bytes: number[] = [];
  const one = new Uint8Array(1);
  while (readSync(0, one) === 1) {
    const byte = one[0] ?? 0;
    if (byte === callOff) throw new Interrupted();
    if (enter.includes(byte)) break;
    if (byte === eraseLine) bytes.length = 0;
    else if (erase.includes(byte)) eraseCharacter(bytes);
    // Ctrl-Z and the like would produce a passphrase that cannot be typed elsewhere.
    else if (byte >= firstPrintable) bytes.push(byte);
  }
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
}

/** Removes the last UTF-8 character: its continuation bytes (10xxxxxx) and the byte before them. */
function eraseCharacter(bytes: number[]): void {
  let byte = bytes.pop();
  while (byte !== undefined && (byte & 0xc0) === 0x80) byte = bytes.pop();
}

/** One read suffices: the terminal delivers whole lines. */
function readLine(): string | null {
  const chunk = new Uint8Array(1_024);
  const length = readSync(0, chunk);
  return length === 0 ? null : new TextDecoder().decode(chunk.subarray(0, length));
}

const patienceMs = 1_000;
const frameMs = 100;
const frames = ['|', '/', '-', '\\'] as const;

/** One line, redrawn in place and removed at the end. */
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

/** Holds messages back until the command fails or prompts. */
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

/** Control and direction characters, which could take over a terminal; line breaks and tabs are fine. */
const unseen = /(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}]/gu;

/** Makes a stranger's text safe for a terminal. */
export function escaped(text: string): string {
  return text.replace(unseen, (character) => {
    const number = character.codePointAt(0) ?? 0;
    return number < 256 ? `\\x${number.toString(16).padStart(2, '0')}` : `\\u{${number.toString(16)}}`;
  });
}

export function openTerminal(): Terminal {
  const isInteractive = process.stdin.isTTY === true;
  const isErrorSeen = process.stderr.isTTY === true;
  const hasColour = {
    out: process.stdout.isTTY === true && process.stdout.hasColors(),
    err: isErrorSeen && process.stderr.hasColors(),
  };
  return {
    out: (content) => writeAll(1, content),
    err: (text) => writeAll(2, text),
    show: (text) => writeAll(2, text),
    isInteractive,
    isOutputSeen: process.stdout.isTTY === true,
    isErrorSeen,
    tint: (stream, tint, text) => (hasColour[stream] ? `\u001b[${tints[tint]}m${text}\u001b[39m` : text),
    waiting: (words, work) => (isErrorSeen ? withSpinner(words, work) : work()),
    readInput: readAll,
    streams: () => ({ input: process.stdin, output: process.stdout }),
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

/** Returns `2026-12-05 16:03`, which is how Swedish writes it. */
const localTime = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleString('sv', { dateStyle: 'short', timeStyle: 'short' });

/**
 * Returns ISO 8601 in UTC for a program or a log. For a person, returns the local time, without the date if `since` has the same one.
 * @param isSeen whether the text goes to a terminal
 */
export function timeOf(seconds: number, isSeen: boolean, since?: number): string {
  if (!isSeen) return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  const time = localTime(seconds);
  return since !== undefined && localTime(since).slice(0, 10) === time.slice(0, 10) ? time.slice(11) : time;
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

export function plural(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

/** Returns the two largest units, such as `6 days 23 hours`, rounded: an hour is still `1 hour` one second later. */
export function durationWords(exactSeconds: number): string {
  const step = exactSeconds < 86_400 ? 60 : 3_600;
  const seconds = exactSeconds < 600 ? exactSeconds : Math.round(exactSeconds / step) * step;
  const at = units.findIndex(([, size]) => seconds >= size);
  const [largest, next] = at === -1 ? units.slice(-1) : units.slice(at);
  if (largest === undefined) return '';
  const words = plural(Math.floor(seconds / largest[1]), largest[0]);
  const below = next === undefined ? 0 : Math.floor((seconds % largest[1]) / next[1]);
  return next === undefined || below === 0 ? words : `${words} ${plural(below, next[0])}`;
}
