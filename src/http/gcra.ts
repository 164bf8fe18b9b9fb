/**
 * One rate limit over many clients, in memory.
 *
 * Owns: the generic cell rate algorithm (ITU-T I.371, annex A) and its bounded table. Invariant: within any span of
 * time a client passes at most `burst` + span × rate times, exactly: times are whole microseconds and the interval is
 * rounded up, so no fraction accumulates. The table never exceeds `maxClients`: clients whose allowance is whole again
 * are forgotten, which changes nothing for them.
 */
import type { LimitRule } from '../core/ports.ts';

/** Monotonic milliseconds, such as `performance.now`. */
export type MonotonicMs = () => number;

export type ClientKey = string | number;

/** Entries looked at for each new client: the table shrinks twice as fast as it can grow. */
const sweptPerInsert = 2;
/** Entries looked at when the table is full before one that still counts has to go. */
const sweptWhenFull = 64;

export class Gcra {
  readonly #intervalMicros: number;
  readonly #toleranceMicros: number;
  readonly #nowMs: MonotonicMs;
  readonly #maxClients: number;
  /** When each client's allowance is whole again ("theoretical arrival time"), in microseconds. */
  readonly #wholeAt = new Map<ClientKey, number>();
  #sweep: Iterator<[ClientKey, number]> = this.#wholeAt.entries();

  constructor(rule: LimitRule, nowMs: MonotonicMs, maxClients: number) {
    this.#intervalMicros = Math.ceil((rule.windowSeconds * 1_000_000) / rule.limit);
    this.#toleranceMicros = this.#intervalMicros * rule.burst;
    this.#nowMs = nowMs;
    this.#maxClients = maxClients;
  }

  /** How many clients are remembered. */
  get size(): number {
    return this.#wholeAt.size;
  }

  /** Counts a call if the rule allows it. Returns 0 when it does, else the milliseconds until it would; nothing is counted then. */
  take(client: ClientKey): number {
    const nowMicros = this.#nowMicros();
    const known = this.#wholeAt.get(client);
    const next = (known === undefined || known < nowMicros ? nowMicros : known) + this.#intervalMicros;
    const excess = next - nowMicros - this.#toleranceMicros;
    if (excess > 0) return excess / 1000;
    if (known === undefined) this.#makeRoom(nowMicros);
    this.#wholeAt.set(client, next);
    return 0;
  }

  /**
   * Takes one counted call back. Meant to follow its `take` soon: of the allowance that has come back by itself in
   * between, at most that much is given twice; never more than a whole allowance.
   */
  refund(client: ClientKey): void {
    const known = this.#wholeAt.get(client);
    if (known === undefined) return;
    const earlier = known - this.#intervalMicros;
    if (earlier > this.#nowMicros()) this.#wholeAt.set(client, earlier);
    else this.#wholeAt.delete(client);
  }

  /** As `take`, without counting. */
  peek(client: ClientKey): number {
    const nowMicros = this.#nowMicros();
    const wholeAt = this.#wholeAt.get(client) ?? 0;
    return (
      Math.max(0, Math.max(wholeAt, nowMicros) + this.#intervalMicros - nowMicros - this.#toleranceMicros) /
      1000
    );
  }

  #nowMicros(): number {
    return Math.floor(this.#nowMs() * 1000);
  }

  #makeRoom(nowMicros: number): void {
    this.#forgetWhole(nowMicros, sweptPerInsert);
    if (this.#wholeAt.size < this.#maxClients) return;
    this.#forgetWhole(nowMicros, sweptWhenFull);
    if (this.#wholeAt.size < this.#maxClients) return;
    // Everyone still counts: the one known longest goes. Refusing newcomers instead would let a flood shut others out.
    for (const oldest of this.#wholeAt.keys()) {
      this.#wholeAt.delete(oldest);
      return;
    }
  }

  #forgetWhole(nowMicros: number, count: number): void {
    for (let looked = 0; looked < count; looked++) {
      const entry = this.#sweep.next();
      if (entry.done) {
        this.#sweep = this.#wholeAt.entries();
        return;
      }
      if (entry.value[1] <= nowMicros) this.#wholeAt.delete(entry.value[0]);
    }
  }
}
