/**
 * Batches of puts and claims as bytes, for the way to the writer's thread.
 *
 * Only these two ends know the layout. The bytes are copied when the call is made, because callers wipe theirs. Cloning a record as an
 * object costs about as much as writing it; transferring one buffer costs next to nothing.
 */
import { type NoticeKind, noticeKinds } from '../../core/account.ts';
import type { CreationHold, CreationId } from '../../core/creation-store.ts';
import type { SecretId } from '../../core/keys.ts';
import type { NewLook } from '../../core/look-store.ts';
import type { NewRecord } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { chosenBy, maskOf } from '../marks.ts';

const putFrame = 1;
const claimFrame = 2;
const withdrawnFrame = 3;
const lookFrame = 4;
const withdrawnLookFrame = 5;
const absent = 0xffff_ffff;
const idBytes = 16;
/** With both of the times that most records have not. */
const putHeadBytes = 1 + 2 * idBytes + 4 * 8 + 1 + 2 * 8;
const claimBytes = 1 + 8 + 4 + idBytes;
/** Of a claim with a look, before the look's own bytes. */
const lookHeadBytes = 8 + 4;
const firstBufferBytes = 16 * 1024;
/** Which of a put's optional things are there; what to notify of stands above them. */
const flag = { passphrase: 1, delivery: 2, notice: 4, sealed: 8 } as const;
const notifyShift = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const nothing = new Uint8Array(0);

/** A claim, and where its row is. */
export interface LocatedClaim {
  readonly secretId: SecretId;
  readonly position: number;
  readonly rowVersion: number;
  /** What it leaves for the opener; absent when nothing. */
  readonly look?: NewLook;
}

function flagsOf({ hasPassphrase, sealed, deliveryStaleAt, noticeDueAt, notify }: NewRecord): number {
  const passphrase = hasPassphrase ? flag.passphrase : 0;
  const delivery = deliveryStaleAt === null ? 0 : flag.delivery;
  const notice = noticeDueAt === null ? 0 : flag.notice;
  const endToEnd = sealed ? flag.sealed : 0;
  return passphrase | delivery | notice | endToEnd | (maskOf(noticeKinds, notify) << notifyShift);
}

/** Collects frames in a buffer that grows. */
export class FrameSink {
  #bytes = new Uint8Array(firstBufferBytes);
  #view = new DataView(this.#bytes.buffer);
  #used = 0;
  #spare: ArrayBuffer | null = null;

  put(record: NewRecord): void {
    const shareDomain = record.shareDomain === '' ? nothing : encoder.encode(record.shareDomain);
    const { detailsBox, recentBox, memoBox, sealedSecret, hold } = record;
    const parts = [shareDomain, detailsBox, recentBox, memoBox, sealedSecret, hold?.id ?? null];
    if (hold !== null) parts.push(hold.wrappedSeed);
    this.#makeRoom(putHeadBytes + parts.reduce((sum, part) => sum + 4 + (part?.length ?? 0), 0));
    this.#byte(putFrame);
    this.#raw(record.secretId);
    this.#raw(record.receiptId);
    this.#number(record.owner ?? 0);
    this.#number(record.createdAt);
    this.#number(record.expiresAt);
    this.#number(record.receiptExpiresAt);
    this.#byte(flagsOf(record));
    if (record.deliveryStaleAt !== null) this.#number(record.deliveryStaleAt);
    if (record.noticeDueAt !== null) this.#number(record.noticeDueAt);
    for (const part of parts) this.#sized(part);
  }

  /** Where the claim's frame stands, to withdraw it by. */
  claim(target: LocatedClaim): number {
    const { look } = target;
    this.#makeRoom(claimBytes + (look === undefined ? 0 : lookHeadBytes + look.sealedLook.length));
    const at = this.#used;
    this.#byte(look === undefined ? claimFrame : lookFrame);
    this.#number(target.position);
    this.#length(target.rowVersion);
    this.#raw(target.secretId);
    if (look !== undefined) {
      this.#number(look.until);
      this.#sized(look.sealedLook);
    }
    return at;
  }

  /** A claim that is not to be decided any more. It keeps its place, because answers are given by place. */
  withdraw(at: number): void {
    this.#bytes[at] = this.#bytes[at] === lookFrame ? withdrawnLookFrame : withdrawnFrame;
  }

  /** The frames so far, to be transferred; the sink starts afresh. */
  take(): ArrayBuffer {
    const taken = this.#bytes.buffer;
    this.#use(this.#spare ?? new ArrayBuffer(firstBufferBytes));
    this.#spare = null;
    this.#used = 0;
    return taken;
  }

  /** Gives a buffer back for later frames; one that a large batch has blown up is not kept. */
  recycle(buffer: ArrayBuffer): void {
    if (buffer.byteLength <= 16 * firstBufferBytes) this.#spare = buffer;
  }

  #use(buffer: ArrayBuffer): void {
    this.#bytes = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
  }

  #makeRoom(wanted: number): void {
    if (this.#used + wanted <= this.#bytes.length) return;
    const old = this.#bytes.subarray(0, this.#used);
    this.#use(new ArrayBuffer(2 * (this.#used + wanted)));
    this.#bytes.set(old);
  }

  #byte(value: number): void {
    this.#bytes[this.#used] = value;
    this.#used += 1;
  }

  #number(value: number): void {
    this.#view.setFloat64(this.#used, value, true);
    this.#used += 8;
  }

  #length(value: number): void {
    this.#view.setUint32(this.#used, value, true);
    this.#used += 4;
  }

  #raw(part: Uint8Array): void {
    this.#bytes.set(part, this.#used);
    this.#used += part.length;
  }

  #sized(part: Uint8Array | null): void {
    this.#length(part === null ? absent : part.length);
    if (part !== null) this.#raw(part);
  }
}

/** A record as the writer reads it: views into the batch, valid until it is answered. */
export interface PutFrame {
  readonly kind: 'put';
  readonly secretId: Uint8Array;
  readonly receiptId: Uint8Array;
  readonly owner: number | null;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  readonly receiptExpiresAt: UnixSeconds;
  readonly hasPassphrase: boolean;
  readonly sealed: boolean;
  readonly deliveryStaleAt: UnixSeconds | null;
  readonly notify: readonly NoticeKind[];
  readonly noticeDueAt: UnixSeconds | null;
  readonly shareDomain: string;
  readonly detailsBox: Uint8Array | null;
  readonly recentBox: Uint8Array | null;
  readonly memoBox: Uint8Array | null;
  readonly sealedSecret: Uint8Array;
  readonly hold: CreationHold | null;
}

export type ClaimFrame = { readonly kind: 'claim' | 'withdrawn' } & LocatedClaim;
export type Frame = PutFrame | ClaimFrame;

/** The `count` frames of a batch, in order. */
export function* readFrames(buffer: ArrayBuffer, count: number): Generator<Frame> {
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  let at = 0;

  function raw(length: number): Uint8Array {
    at += length;
    return bytes.subarray(at - length, at);
  }

  function number(): number {
    at += 8;
    return view.getFloat64(at - 8, true);
  }

  function sized(): Uint8Array | null {
    const length = view.getUint32(at, true);
    at += 4;
    return length === absent ? null : raw(length);
  }

  function readClaim(of: number | undefined): ClaimFrame {
    const kind = of === claimFrame || of === lookFrame ? 'claim' : 'withdrawn';
    const position = number();
    const rowVersion = view.getUint32(at, true);
    at += 4;
    const claim: ClaimFrame = { kind, position, rowVersion, secretId: raw(idBytes) as SecretId };
    if (of !== lookFrame && of !== withdrawnLookFrame) return claim;
    const until = number();
    return { ...claim, look: { until, sealedLook: sized() ?? nothing } };
  }

  function readHold(): CreationHold | null {
    const id = sized();
    return id === null ? null : { id: id as CreationId, wrappedSeed: sized() ?? nothing };
  }

  function readPut(): Frame {
    const [secretId, receiptId] = [raw(idBytes), raw(idBytes)];
    const [owner, createdAt, expiresAt, receiptExpiresAt] = [number(), number(), number(), number()];
    const flags = bytes[at] ?? 0;
    at += 1;
    const deliveryStaleAt = (flags & flag.delivery) === 0 ? null : number();
    const noticeDueAt = (flags & flag.notice) === 0 ? null : number();
    const [shareDomain, detailsBox, recentBox, memoBox] = [sized() ?? nothing, sized(), sized(), sized()];
    return {
      kind: 'put',
      secretId,
      receiptId,
      owner: owner === 0 ? null : owner,
      createdAt,
      expiresAt,
      receiptExpiresAt,
      hasPassphrase: (flags & flag.passphrase) !== 0,
      sealed: (flags & flag.sealed) !== 0,
      deliveryStaleAt,
      notify: chosenBy(noticeKinds, flags >> notifyShift),
      noticeDueAt,
      shareDomain: shareDomain.length === 0 ? '' : decoder.decode(shareDomain),
      detailsBox,
      recentBox,
      memoBox,
      sealedSecret: sized() ?? nothing,
      hold: readHold(),
    };
  }

  for (let n = 0; n < count; n += 1) {
    const kind = bytes[at];
    at += 1;
    yield kind === putFrame ? readPut() : readClaim(kind);
  }
}
