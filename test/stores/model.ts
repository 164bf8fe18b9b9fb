/**
 * A model of one creator's secrets, and random histories that compare a store with it. A history is a pure function of
 * its seed, so a printed seed repeats it.
 */

import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { AccountId } from '../../src/core/account.ts';
import { lookRow } from '../../src/core/ports/looks.ts';
import type { NewRecord, StoredDelivery, StoredSecret, StoredState } from '../../src/core/secret.ts';
import { lookAnswers } from '../../src/protocol/limits.ts';
import type { Burner, DeliveryState } from '../../src/protocol/vocabulary.ts';
import type { Store } from '../../src/store/store.ts';
import { createDice } from '../support/run-seed.ts';
import { ownerIn } from './conformance/account-fixtures.ts';
import {
  clientStays,
  newReceiptId,
  newRecord,
  newSecretId,
  recentOf,
  type StoreUnderTest,
} from './conformance/check.ts';
import { askAgain, lookOf, newLook, newTag, type Opened } from './conformance/look-fixtures.ts';
import { clients, limits, lockOf, type ModelAttempt, roomFor } from './model-attempts.ts';

interface ModelRecord {
  readonly record: NewRecord;
  state: StoredState;
  viewedAt: number | null;
  endedAt: number | null;
  burnedBy: Burner | null;
  delivery: StoredDelivery | null;
  memoBox: Uint8Array | null;
  /** `null` when no notice is left to give out. */
  noticeDueAt: number | null;
  attempts: ModelAttempt[];
  /** What its claim left for its opener; `null` when nothing, or when it was ended. */
  look: { readonly opener: Opened; left: number } | null;
  lastFound: StoredSecret | null;
}

export interface Subject extends StoreUnderTest {
  /** The store in use now: a history may reopen it. */
  current: Store;
}

/** Whatever is as long as this can hold what a store reads of a look. */
const shortestLook = lookRow.tagAt + lookRow.tagBytes;

const deliveryStates: readonly DeliveryState[] = ['queued', 'accepted', 'refused', 'given_up', 'not_sent'];
/** One history of one creator's secrets; rejects at the first answer that differs from the model's. */
class History {
  readonly #subject: Subject;
  readonly #dice: (sides: number) => number;
  readonly #owner: AccountId;
  readonly #model: ModelRecord[] = [];
  /** Store time: the highest wall time so far. */
  #now: number;

  constructor(subject: Subject, owner: AccountId, seed: number) {
    this.#subject = subject;
    this.#dice = createDice(seed);
    this.#owner = owner;
    this.#now = subject.current.now();
  }

  async run(maxSteps: number): Promise<void> {
    for (let steps = 1 + this.#dice(maxSteps); steps > 0; steps -= 1) await this.#step();
  }

  #waits(each: ModelRecord): boolean {
    return each.state === 'waiting' && this.#now < each.record.expiresAt;
  }

  #listed(each: ModelRecord): boolean {
    return this.#now < each.record.receiptExpiresAt;
  }

  /** Half the time the newest, so that one record gets several steps in a row. */
  #pick(): ModelRecord | null {
    const some = this.#model[this.#dice(Math.max(1, this.#model.length))];
    return (this.#dice(2) === 0 ? this.#model.at(-1) : some) ?? null;
  }

  async #put(): Promise<void> {
    const ttlSeconds = 1 + this.#dice(300);
    const lifetime = { expiresAt: this.#now + ttlSeconds, receiptExpiresAt: this.#now + 2 * ttlSeconds };
    const sealedSecret = new Uint8Array([
      1,
      0,
      1,
      ...Array.from({ length: this.#dice(5) * 100 }, () => this.#dice(256)),
    ]);
    const noticeDueAt = this.#dice(2) === 0 ? null : this.#now + this.#dice(ttlSeconds);
    const staleAt = this.#dice(2) === 0 ? null : this.#now + this.#dice(100);
    const memoBox = this.#memo();
    const beside = { noticeDueAt, deliveryStaleAt: staleAt, memoBox, sealed: this.#dice(2) === 0 };
    const record = newRecord(this.#now, { owner: this.#owner, sealedSecret, ...lifetime, ...beside });
    await this.#subject.current.put(record);
    this.#model.push({
      record,
      state: 'waiting',
      viewedAt: null,
      endedAt: null,
      burnedBy: null,
      delivery:
        staleAt === null
          ? null
          : { state: 'queued', at: this.#now, staleAt, noteBox: null, addressBox: null },
      memoBox,
      noticeDueAt,
      attempts: [],
      look: null,
      lastFound: null,
    });
  }

  async #find(each: ModelRecord): Promise<void> {
    const secret = await this.#subject.current.findSecret(each.record.secretId);
    assert.equal(secret !== null, this.#waits(each), 'find');
    if (secret === null) return;
    assert.deepEqual(secret.sealedSecret, each.record.sealedSecret);
    assert.equal(secret.sealed, each.record.sealed);
    each.lastFound = secret;
  }

  async #claim(each: ModelRecord): Promise<void> {
    if (each.lastFound === null) return this.#find(each);
    assert.equal(
      await this.#subject.current.claim(each.lastFound, clientStays),
      this.#waits(each) ? 'won' : 'gone',
      'claim',
    );
    this.#end(each, 'reader');
  }

  async #claimWithLook(each: ModelRecord): Promise<void> {
    if (each.lastFound === null) return this.#find(each);
    // Rows of version 1 have no room in their sealed bytes.
    if (each.lastFound.sealedSecret.length < shortestLook) return this.#claim(each);
    const tag = newTag();
    const look = newLook(each.lastFound, this.#now, tag);
    const waits = this.#waits(each);
    const outcome = await this.#subject.current.claim(each.lastFound, clientStays, look);
    assert.equal(outcome, waits ? 'won' : 'gone', 'claim with a look');
    this.#end(each, 'reader');
    if (waits) each.look = { opener: { record: each.record, tag, look }, left: lookAnswers - 1 };
  }

  #looks({ look }: ModelRecord): boolean {
    return look !== null && look.left > 0 && this.#now < look.opener.look.until;
  }

  /** Of the newest that was opened: a look is short. */
  #opened(): ModelRecord | undefined {
    return this.#model.findLast((each) => each.look !== null);
  }

  async #lookAgain(): Promise<void> {
    const each = this.#opened();
    if (each?.look == null) return;
    const { opener } = each.look;
    const store = this.#subject.current;
    assert.equal((await lookOf(store, opener)) !== null, this.#looks(each), 'look');
    assert.equal(await lookOf(store, { ...opener, tag: newTag() }), null, 'another’s look');
    const left = this.#looks(each) ? each.look.left : 0;
    const asked = await Promise.all(Array.from({ length: 1 + this.#dice(3) }, () => askAgain(store, opener)));
    const answered = asked.filter((outcome) => outcome === 'answered').length;
    assert.equal(answered, Math.min(left, asked.length), 'answers');
    each.look.left -= answered;
  }

  async #finish(): Promise<void> {
    const each = this.#opened();
    if (each?.look == null) return;
    const { record, tag } = each.look.opener;
    const isOwn = this.#dice(2) === 0;
    await this.#subject.current.endLook(record.secretId, isOwn ? tag : newTag());
    if (isOwn) each.look.left = 0;
    assert.equal((await lookOf(this.#subject.current, each.look.opener)) !== null, this.#looks(each), 'done');
  }

  #end(each: ModelRecord, by: 'reader' | Burner): void {
    if (!this.#waits(each)) return;
    each.state = by === 'reader' ? 'received' : 'burned';
    each.burnedBy = by === 'reader' ? null : by;
    each.endedAt = this.#now;
  }

  async #burn(each: ModelRecord): Promise<void> {
    assert.equal(
      await this.#subject.current.burn(each.record.receiptId, clientStays),
      this.#waits(each) ? this.#now : null,
      'burn',
    );
    if (each.look !== null) each.look.left = 0;
    this.#end(each, 'creator');
  }

  async #burnFound(each: ModelRecord): Promise<void> {
    if (each.lastFound === null) return this.#find(each);
    const burnedAt = await this.#subject.current.burnFound(each.lastFound, clientStays);
    assert.equal(burnedAt, this.#waits(each) ? this.#now : null, 'burn by the link');
    this.#end(each, 'recipient');
  }

  /** A claim and both burns at once: exactly one wins if the secret waits. */
  async #race(each: ModelRecord): Promise<void> {
    const { lastFound } = each;
    if (lastFound === null) return this.#find(each);
    const store = this.#subject.current;
    const [claim, byLink, byCreator] = await Promise.all([
      store.claim(lastFound, clientStays),
      store.burnFound(lastFound, clientStays),
      store.burn(each.record.receiptId, clientStays),
    ]);
    if (each.look !== null) each.look.left = 0;
    const winners = [claim === 'won', byLink !== null, byCreator !== null];
    assert.equal(winners.filter(Boolean).length, this.#waits(each) ? 1 : 0, 'race');
    this.#end(each, (['reader', 'recipient', 'creator'] as const)[winners.indexOf(true)] ?? 'reader');
  }

  async #view(each: ModelRecord): Promise<void> {
    if (this.#waits(each)) each.viewedAt ??= this.#now;
    assert.equal(
      await this.#subject.current.markViewed(each.record.receiptId),
      this.#waits(each) ? each.viewedAt : null,
      'view',
    );
  }

  async #receipt(each: ModelRecord): Promise<void> {
    const found = await this.#subject.current.findReceipt(each.record.receiptId);
    assert.equal(found !== null, this.#listed(each), 'receipt');
    if (found === null) return;
    const { state, viewedAt, endedAt, burnedBy } = each;
    const told = [found.state, found.viewedAt, found.endedAt, found.burnedBy];
    assert.deepEqual(told, [state, viewedAt, endedAt, burnedBy]);
    assert.deepEqual(found.sealedSecret, this.#waits(each) ? each.record.sealedSecret : null);
    assert.deepEqual(found.delivery, this.#deliveryOf(each));
    assert.deepEqual(found.memoBox, each.memoBox);
    assert.equal(found.sealed, each.record.sealed);
  }

  /** No memo, or one of either length; never all zeros, as no sealed box is. */
  #memo(): Uint8Array | null {
    const length = [0, 0, 304, 2_096][this.#dice(4)] ?? 0;
    return length === 0 ? null : new Uint8Array(length).fill(1 + this.#dice(255));
  }

  async #setMemo(each: ModelRecord): Promise<void> {
    const memoBox = this.#memo();
    const isSet = await this.#subject.current.setMemo(each.record.receiptId, memoBox);
    assert.equal(isSet, this.#listed(each), 'memo');
    if (isSet) each.memoBox = memoBox;
  }

  /** The delivery as receipts should show it now. */
  #deliveryOf(each: ModelRecord): StoredDelivery | null {
    if (each.delivery === null) return null;
    const told = this.#waits(each) ? each.delivery : { ...each.delivery, addressBox: null };
    if (told.state !== 'queued' || told.staleAt === null || this.#now < told.staleAt) return told;
    return { ...told, state: 'not_sent', at: told.staleAt, staleAt: null };
  }

  async #deliver(each: ModelRecord): Promise<void> {
    const state = deliveryStates[this.#dice(deliveryStates.length)] ?? 'queued';
    const staleAt = state === 'queued' ? this.#now + this.#dice(100) : null;
    const [noteBox, addressBox] = [new Uint8Array([this.#dice(256)]), new Uint8Array([this.#dice(256)])];
    const delivery = { state, staleAt, noteBox, addressBox };
    await this.#subject.current.setDelivery(each.record.receiptId, delivery);
    if (this.#listed(each)) each.delivery = { ...delivery, at: this.#now };
  }

  /** Takes all due notices; those of earlier histories are ignored. */
  async #notices(): Promise<void> {
    const taken = await this.#subject.current.takeDueNotices(1_000);
    const due = this.#model.filter((each) => (each.noticeDueAt ?? Number.POSITIVE_INFINITY) <= this.#now);
    const wanted = due
      .filter((each) => this.#waits(each))
      .sort((a, b) => (a.noticeDueAt ?? 0) - (b.noticeDueAt ?? 0));
    assert.deepEqual(
      taken.filter((notice) => notice.owner === this.#owner).map((notice) => notice.expiresAt),
      wanted.map((each) => each.record.expiresAt),
      'notices',
    );
    for (const each of due) each.noticeDueAt = null;
  }

  async #recent(): Promise<void> {
    const limit = 1 + this.#dice(5);
    const list = await recentOf(this.#subject.current, this.#owner, limit);
    const expected = this.#model
      .filter((each) => this.#listed(each))
      .reverse()
      .slice(0, limit);
    assert.deepEqual(
      list.map((each) => [each.receiptId, each.memoBox]),
      expected.map((each) => [each.record.receiptId, each.memoBox]),
    );
  }

  /** Several concurrent guesses of one client: the tightest limit decides how many are allowed. */
  async #reserve(each: ModelRecord): Promise<void> {
    if (!this.#waits(each)) return;
    const client = this.#dice(clients.length);
    const room = roomFor(each.attempts, client, this.#now);
    const guess = () =>
      this.#subject.current.reserve(each.record.secretId, clients[client] as Uint8Array, limits);
    const guesses = await Promise.all(Array.from({ length: 1 + this.#dice(3) }, guess));
    const reserved = guesses.flatMap((guess) => (guess.outcome === 'reserved' ? [guess.attempt] : []));
    assert.equal(reserved.length, Math.max(0, Math.min(room, guesses.length)), 'reserve');
    const left = guesses.flatMap((guess) => (guess.outcome === 'reserved' ? [guess.left] : []));
    assert.deepEqual(
      left.sort((a, b) => b - a),
      left.map((_, n) => room - 1 - n),
      'left',
    );
    each.attempts.push(...reserved.map((number) => ({ number, client, at: this.#now })));
    const waits = guesses.flatMap((each) => (each.outcome === 'exhausted' ? [each.retryAfterSeconds] : []));
    assert.ok(waits.every((seconds) => seconds >= 1 && seconds <= 300));
  }

  async #allowMore(each: ModelRecord): Promise<void> {
    await this.#subject.current.allowMore(each.record.secretId);
    each.attempts = [];
    await this.#reserve(each);
  }

  async #locks(): Promise<void> {
    const waiting = this.#model.filter((each) => this.#waits(each));
    const told = this.#subject.current.findLocks(
      waiting.map(({ record }) => record.secretId),
      limits,
    );
    const expected = waiting.map(({ attempts }) => lockOf(attempts, this.#now));
    assert.deepEqual(await told, expected, 'locks');
  }

  async #refund(each: ModelRecord): Promise<void> {
    const counted = each.attempts.filter((attempt) => attempt.at > this.#now - limits.windowSeconds);
    const given = counted[this.#dice(Math.max(1, counted.length))];
    if (given === undefined) return;
    await this.#subject.current.refund(each.record.secretId, given.number);
    each.attempts = each.attempts.filter((attempt) => attempt !== given);
    // A refund shows only in the guesses that it allows.
    await this.#reserve(each);
  }

  async #strangers(): Promise<void> {
    assert.equal(await this.#subject.current.findSecret(newSecretId()), null);
    assert.equal(await this.#subject.current.burn(newReceiptId(), clientStays), null);
  }

  /** Seconds until a secret expires: most timing bugs show only in that second. */
  #untilExpiry(): number {
    return Math.max(1, (this.#pick()?.record.expiresAt ?? 0) - this.#now);
  }

  #passTime(): void {
    const { wallClock, current } = this.#subject;
    const passed = [1, 10, 60, 150, 0, this.#untilExpiry()][this.#dice(6)] ?? 0;
    // No time passes; the wall clock is put back, or forward before the clocks become disputed.
    if (passed === 0) wallClock.jump(current.now() - wallClock.read() > 200 ? 100 : -50);
    else wallClock.advance(passed);
    const now = current.now();
    // A lead over the wall clock may shrink by a hundredth of the time that passes.
    const slewed = this.#now + passed - now;
    assert.ok(slewed >= 0 && slewed <= Math.ceil(passed / 100), 'store time');
    assert.ok(now >= wallClock.read(), 'store time is behind the wall clock');
    this.#now = now;
  }

  async #step(): Promise<void> {
    const each = this.#pick();
    const kind = this.#dice(100);
    if (each === null || kind < 15) return this.#put();
    if (kind < 30) return this.#find(each);
    if (kind < 35) return this.#claim(each);
    if (kind < 40) return this.#claimWithLook(each);
    if (kind < 44) return this.#burn(each);
    if (kind < 46) return this.#burnFound(each);
    if (kind < 50) return this.#race(each);
    if (kind < 54) return this.#view(each);
    if (kind < 57) return this.#setMemo(each);
    if (kind < 64) return this.#receipt(each);
    if (kind < 68) return this.#deliver(each);
    if (kind < 72) return this.#notices();
    if (kind < 76) return this.#recent();
    if (kind < 82) return this.#reserve(each);
    if (kind < 85) return this.#refund(each);
    if (kind < 86) return this.#dice(2) === 0 ? this.#allowMore(each) : this.#locks();
    if (kind < 88) return this.#strangers();
    if (kind < 90) return this.#lookAgain();
    if (kind < 91) return this.#finish();
    if (kind < 93) return void (await this.#subject.current.sweep(20));
    if (kind < 99) return this.#passTime();
    // Reopening a store takes as long as a history, so only some do.
    if (this.#dice(10) === 0 && this.#subject.reopen !== undefined) {
      this.#subject.current = await this.#subject.reopen();
      // How far a lead has shrunk since the time was last stored is lost.
      const now = this.#subject.current.now();
      assert.ok(now >= this.#now && now <= this.#now + 3, 'store time over a restart');
      this.#now = now;
    }
  }
}

/** Runs `count` histories from `seed` on; rejects with the seed of the first that diverges. */
export async function runHistories(
  subject: Subject,
  seed: number,
  count: number,
  maxSteps: number,
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    try {
      // Histories share a store, so each has its own account and lists only its own receipts.
      const owner = await ownerIn(subject.current, `history ${seed + n} ${randomUUID()}`);
      await new History(subject, owner, seed + n).run(maxSteps);
    } catch (error) {
      throw new Error(`the history of seed ${seed + n} diverges: ${String(error)}`, { cause: error });
    }
  }
}
