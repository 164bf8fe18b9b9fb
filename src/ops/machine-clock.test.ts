import { describe, expect, it } from 'bun:test';
import { readFileSync } from 'node:fs';
import { createMachineClock } from './machine-clock.ts';

describe('the clocks of this machine', () => {
  it('count from the kernel’s own start, and name it (P8)', () => {
    const clock = createMachineClock();
    const [before, sinceBoot, after] = [uptimeSeconds(), clock.sinceBoot(), uptimeSeconds()];
    expect(sinceBoot).toBeGreaterThanOrEqual(before - 1);
    // The system rounds up.
    expect(sinceBoot).toBeLessThanOrEqual(after + 1);
    expect(clock.bootId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(createMachineClock().bootId).toBe(clock.bootId);
  });
});

function uptimeSeconds(): number {
  return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
}
