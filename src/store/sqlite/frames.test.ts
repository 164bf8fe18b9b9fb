import { expect, it } from 'bun:test';
import fc from 'fast-check';
import { newRecord } from '../../../test/stores/conformance/check.ts';
import { type AccountId, noticeKinds } from '../../core/account.ts';
import type { CreationId } from '../../core/creation-store.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { NewRecord } from '../../core/secret.ts';
import { FrameSink, readFrames } from './frames.ts';

const bytes = (max: number) => fc.uint8Array({ maxLength: max });
const id = fc.uint8Array({ minLength: 16, maxLength: 16 });
const seconds = fc.integer({ min: 0, max: 2 ** 40 });

const record: fc.Arbitrary<NewRecord> = fc.record({
  secretId: id.map((each) => each as SecretId),
  receiptId: id.map((each) => each as ReceiptId),
  owner: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map((each) => each as AccountId)),
  createdAt: seconds,
  expiresAt: seconds,
  receiptExpiresAt: seconds,
  hasPassphrase: fc.boolean(),
  sealed: fc.boolean(),
  shareDomain: fc.string({ unit: 'grapheme', maxLength: 40 }),
  sealedSecret: bytes(2_000),
  detailsBox: fc.option(bytes(200)),
  recentBox: fc.option(bytes(200)),
  memoBox: fc.option(bytes(400)),
  deliveryStaleAt: fc.option(seconds),
  notify: fc.subarray([...noticeKinds]),
  noticeDueAt: fc.option(seconds),
  hold: fc.option(fc.record({ id: id.map((each) => each as CreationId), wrappedSeed: bytes(100) })),
});

const claim = fc.record({
  secretId: id.map((each) => each as SecretId),
  position: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  rowVersion: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
});

const lookClaim = fc
  .tuple(claim, fc.record({ until: seconds, sealedLook: bytes(2_000) }))
  .map(([each, look]) => ({ ...each, look }));
const anyClaim = fc.oneof(claim, lookClaim);

const frame = fc.oneof(
  record.map((each) => ({ kind: 'put' as const, ...each })),
  anyClaim.map((each) => ({ kind: 'claim' as const, ...each })),
);

it('a batch of puts and claims is read as it was written, also in a buffer that was used before', () => {
  const sink = new FrameSink();
  const property = fc.property(fc.array(frame, { maxLength: 100 }), (frames) => {
    for (const each of frames) each.kind === 'put' ? sink.put(each) : sink.claim(each);
    const buffer = sink.take();
    expect([...readFrames(buffer, frames.length)]).toEqual(frames);
    sink.recycle(buffer);
  });
  fc.assert(property, { numRuns: 300 });
});

it('a claim that was withdrawn keeps its place and says so, also after the buffer has grown', () => {
  const sink = new FrameSink();
  const claims = fc.sample(anyClaim, 5_000);
  const places = claims.map((each) => sink.claim(each));
  const isWithdrawn = (n: number) => n % 3 === 1;
  for (const [n, at] of places.entries()) if (isWithdrawn(n)) sink.withdraw(at);
  const wanted = claims.map((each, n) => ({ kind: isWithdrawn(n) ? 'withdrawn' : 'claim', ...each }));
  expect([...readFrames(sink.take(), claims.length)] as unknown[]).toEqual(wanted);
});

it('a batch holds the bytes of the moment they were given', () => {
  const sink = new FrameSink();
  const [given] = fc.sample(lookClaim, 1);
  if (given === undefined) throw new Error('no sample');
  const wanted = structuredClone(given);
  sink.claim(given);
  given.secretId.fill(0);
  given.look.sealedLook.fill(0);
  expect([...readFrames(sink.take(), 1)]).toEqual([{ kind: 'claim', ...wanted }]);
});

it('a batch is read as it was written, whatever room its buffer had left', () => {
  const full: NewRecord = {
    ...newRecord(1_800_000_000),
    deliveryStaleAt: 1,
    noticeDueAt: 2,
    notify: ['read'],
    shareDomain: 'share.example.org',
    detailsBox: new Uint8Array(7).fill(7),
    recentBox: new Uint8Array(9).fill(9),
    memoBox: new Uint8Array(11).fill(11),
  };
  const claimed = { secretId: full.secretId, position: 2 ** 40, rowVersion: 2 ** 31 };
  const first = newRecord(1_800_000_000);
  const sink = new FrameSink();
  // Byte by byte, from where both frames still fit to where neither does.
  for (let length = 64_850; length < 65_500; length += 1) {
    const filling = { ...first, sealedSecret: new Uint8Array(length) };
    for (const [kind, next] of [
      ['claim', claimed],
      ['put', full],
    ] as const) {
      sink.put(filling);
      kind === 'put' ? sink.put(next) : sink.claim(next);
      const buffer = sink.take();
      const [, read] = readFrames(buffer, 2);
      expect(read as unknown).toEqual({ kind, ...next });
      if (buffer.byteLength === 65_536) sink.recycle(buffer);
    }
  }
});
