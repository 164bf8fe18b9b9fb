/** A real terminal: tmux with a server of its own, what is typed there, and what is seen. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Debian's tmux, as scripts/system-tools.mjs installs it. */
const tmux = 'tmux';
const patienceMs = 20_000;

export interface TerminalSession extends AsyncDisposable {
  /** Types a text as it is, without Enter. */
  type(text: string): void;
  /** `Enter`, `Tab`, `C-c`. */
  press(...keys: readonly string[]): void;
  /** What is on the screen. */
  screen(): string;
  /** What is on the screen, with its colours as escape sequences. */
  coloured(): string;
  /** Everything that was ever on it. */
  history(): string;
  /** Waits until the screen shows it. @throws with the screen when it does not in time */
  until(shown: RegExp): Promise<string>;
}

/** @param command and its arguments, the only program of the session */
export async function openTmux(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<TerminalSession> {
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-tmux-'));
  const socket = join(folder, 'socket');
  const run = (...args: readonly string[]) => {
    const ran = Bun.spawnSync([tmux, '-f', '/dev/null', '-S', socket, ...args], {
      env: { LANG: 'C.UTF-8', ...env },
    });
    if (ran.exitCode !== 0) throw new Error(`tmux ${args[0]}: ${ran.stderr.toString()}`);
    return ran.stdout.toString();
  };
  // The environment of the server, and so of the program, is the one given alone.
  run('new-session', '-d', '-x', '140', '-y', '40', ...command);
  const screen = () => run('capture-pane', '-p', '-J');
  return {
    type: (text) => void run('send-keys', '-l', '--', text),
    press: (...keys) => void run('send-keys', ...keys),
    screen,
    coloured: () => run('capture-pane', '-p', '-J', '-e'),
    history: () => run('capture-pane', '-p', '-J', '-S', '-'),
    async until(shown) {
      const end = performance.now() + patienceMs;
      while (performance.now() < end) {
        const seen = screen();
        if (shown.test(seen)) return seen;
        await new Promise((resolve) => setImmediate(resolve));
      }
      throw new Error(`the screen never showed ${String(shown)}:\n${screen()}`);
    },
    async [Symbol.asyncDispose]() {
      Bun.spawnSync([tmux, '-S', socket, 'kill-server']);
      await rm(folder, { recursive: true });
    },
  };
}
