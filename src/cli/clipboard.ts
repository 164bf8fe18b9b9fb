/**
 * Copies with the system's clipboard program, which gets the text on standard input, never as an argument (P18). Without one, uses the
 * terminal's clipboard (OSC 52), which also works over SSH but never confirms a copy.
 */
import { spawn } from 'node:child_process';
import type { Environment } from './programs.ts';
import type { Terminal } from './terminal.ts';

export interface Clipboard {
  /** Whether `copy` knows that the text arrived. */
  readonly isSure: boolean;
  copy(text: string): Promise<boolean>;
}

interface ClipboardProgram {
  readonly name: string;
  readonly args: readonly string[];
}

const limitMs = 10_000;

const windowsScript =
  '[Console]::InputEncoding = [Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())';
const windows: ClipboardProgram = {
  name: 'powershell.exe',
  args: ['-NoProfile', '-NonInteractive', '-Command', windowsScript],
};
const wayland: ClipboardProgram = { name: 'wl-copy', args: [] };
const x11: readonly ClipboardProgram[] = [
  { name: 'xclip', args: ['-selection', 'clipboard'] },
  { name: 'xsel', args: ['--clipboard', '--input'] },
];

const isGiven = (text: string | undefined): boolean => text !== undefined && text !== '';

/** Returns the programs to try, best first. */
function clipboardPrograms(environment: Environment, platform: string): readonly ClipboardProgram[] {
  const { SSH_CONNECTION, SSH_TTY, WAYLAND_DISPLAY, DISPLAY, WSL_DISTRO_NAME } = environment;
  // Over SSH, these programs would reach the wrong machine's clipboard.
  if (isGiven(SSH_CONNECTION) || isGiven(SSH_TTY)) return [];
  if (platform === 'darwin') return [{ name: 'pbcopy', args: [] }];
  if (platform === 'win32' || isGiven(WSL_DISTRO_NAME)) return [windows];
  return [...(isGiven(WAYLAND_DISPLAY) ? [wayland] : []), ...(isGiven(DISPLAY) ? x11 : [])];
}

function give(
  text: string,
  file: string,
  args: readonly string[],
  environment: Environment,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const signal = AbortSignal.timeout(limitMs);
  // Ignores all output, because X11 programs stay in the background to serve the selection and would keep the pipes open.
  const child = spawn(file, [...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...environment },
    signal,
  });
  child.on('error', () => resolve(false));
  child.on('exit', (code) => resolve(code === 0));
  child.stdin?.on('error', () => resolve(false));
  child.stdin?.end(text);
  return promise;
}

function terminalClipboard(terminal: Terminal): Clipboard {
  return {
    isSure: false,
    async copy(text) {
      terminal.show(`\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`);
      return true;
    },
  };
}

export async function openClipboard(terminal: Terminal, environment: Environment): Promise<Clipboard | null> {
  for (const { name, args } of clipboardPrograms(environment, process.platform)) {
    const file = Bun.which(name, { PATH: environment.PATH ?? '' });
    if (file !== null) return { isSure: true, copy: (text) => give(text, file, args, environment) };
  }
  return terminal.isInteractive && terminal.isErrorSeen ? terminalClipboard(terminal) : null;
}
