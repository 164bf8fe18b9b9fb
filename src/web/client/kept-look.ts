/**
 * The nonce of the second look, in this tab for a minute: the one exception to "nothing is stored". It opens nothing without the
 * fragment, which stays in the address for as long, and nothing at all after the minute.
 */
import { newLook } from '../../../sdk/drawing.ts';

const name = 'mayfly-look';
const minuteMs = 60_000;

export interface KeptLook {
  /** The path of the link. */
  readonly path: string;
  readonly look: string;
  /** By this machine's clock. */
  readonly untilMs: number;
  readonly hasPassphrase: boolean;
}

let timer: ReturnType<typeof setTimeout> | undefined;
/** Where the browser keeps nothing for the page. */
let held: KeptLook | null = null;

function read(): KeptLook | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null') as KeptLook | null;
  } catch {
    return null;
  }
}

export function dropLook(): void {
  clearTimeout(timer);
  held = null;
  try {
    sessionStorage.removeItem(name);
  } catch {
    // Nothing was kept.
  }
}

/** `null` if there is none, or its minute is over, or it is another link's. */
export function keptLook(path: string): KeptLook | null {
  const kept = read() ?? held;
  if (kept === null) return null;
  if (!(kept.untilMs > Date.now())) dropLook();
  else if (kept.path === path) return kept;
  return null;
}

/** Draws one, before anything is asked. */
export function keepLook(path: string, hasPassphrase: boolean): KeptLook {
  const look = newLook();
  held = { path, look, untilMs: Date.now() + minuteMs, hasPassphrase };
  try {
    sessionStorage.setItem(name, JSON.stringify(held));
  } catch {
    // Then only this page itself can ask again.
  }
  return held;
}

/** @param over once the minute has passed */
export function atEndOf({ untilMs }: KeptLook, over: () => void): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    dropLook();
    over();
  }, untilMs - Date.now());
}
