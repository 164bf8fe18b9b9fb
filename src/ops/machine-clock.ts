/**
 * This machine's clocks. The time since boot comes from the system (sysinfo(2) on Linux: CLOCK_BOOTTIME, which counts while the machine is
 * suspended), and the id of this boot from random(4).
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { type MachineClock, systemClock } from '../core/time.ts';

/** How long to cache the system's answer: fetching it costs more than the rest of reading the time. */
const freshMs = 250;

function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || null;
  } catch {
    // Not Linux, or hidden in this container.
    return null;
  }
}

export function createMachineClock(): MachineClock {
  let [wallAsked, askedMs, sinceBoot] = [-1, Number.NEGATIVE_INFINITY, 0];
  return {
    wall: systemClock,
    sinceBoot() {
      const [wall, nowMs] = [systemClock(), performance.now()];
      // After a suspend the wall clock has moved, though the process has not noticed any time pass.
      if (wall !== wallAsked || nowMs - askedMs >= freshMs) {
        [wallAsked, askedMs, sinceBoot] = [wall, nowMs, Math.floor(uptime())];
      }
      return sinceBoot;
    },
    bootId: readBootId(),
  };
}
