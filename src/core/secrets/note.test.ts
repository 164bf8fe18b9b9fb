/** Proves who may read a note, that reading it changes nothing (P4), and that it is gone with the secret (P10). */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { anyGenerated, noOptions } from '../../../test/support/inputs.ts';
import { asHolder } from '../../../test/support/receipts.ts';
import { clientSecret } from '../../../test/support/sealed-wire.ts';
import { createBench, guess, readBy, type ShareOptions } from '../../../test/support/service-bench.ts';
import { anonymous } from '../account.ts';
import { Sensitive } from '../sensitive.ts';
import { attemptLimits } from './attempts.ts';

const line = 'For Ana: the Wi-Fi of ward 4';
const noted = (text = line) => ({ note: new Sensitive(text) });
const sealed = clientSecret({ hasPassphrase: true, hasNote: true });
const sealedOptions = (): ShareOptions => ({ sealed: sealed.input() });

function createWorld() {
  const bench = createBench();
  return {
    ...bench,
    async read(secretKey: string, linkProof: Uint8Array | null = null) {
      const outcome = await bench.service.readNote({ secretKey, linkProof });
      if (outcome.outcome !== 'found') return outcome;
      expect(outcome.sealed).toBe(linkProof !== null);
      return outcome.note?.expose() ?? null;
    },
  };
}

describe('the note of a plain secret', () => {
  it('is there for the key alone, before the passphrase, as one tidy line', async () => {
    const { share, read } = createWorld();
    for (const passphrase of [undefined, 'right']) {
      const options = {
        ...noted(` ${line}\n\u202acall me\u202c `),
        ...(passphrase !== undefined && { passphrase }),
      };
      const { secretKey } = await share('value', options);
      expect(await read(secretKey)).toBe(`${line} call me`);
    }
  });

  it('is none where none was given, or only white space', async () => {
    const { share, read } = createWorld();
    for (const options of [{}, noted(''), noted(' \n\u200f ')])
      expect(await read((await share('value', options)).secretKey)).toBeNull();
  });

  it('is kept with a generated value, too', async () => {
    const { service, read } = createWorld();
    const made = await service.generate({ ...anyGenerated, ...noted() }, anonymous);
    expect(made.outcome === 'created' && (await read(made.receipt.secretKey ?? ''))).toBe(line);
  });

  it('is refused to who expects an end-to-end secret', async () => {
    const { share, read } = createWorld();
    const { secretKey } = await share('value', noted());
    expect(await read(secretKey, new Uint8Array(32))).toEqual({ outcome: 'not_sealed' });
  });

  it.each([
    ['too long', 'a'.repeat(141), { outcome: 'note_too_long', maxCharacters: 140 }],
    ['a control character', 'a\u001b[2Jb', { outcome: 'ill_formed', field: 'note' }],
    ['half a pair', 'a\ud83d', { outcome: 'ill_formed', field: 'note' }],
  ])('is refused with %s, and nothing is stored', async (_name, text, refusal) => {
    const { service, records } = createWorld();
    const input = { ...noOptions, ...noted(text), value: new Sensitive('value') };
    expect(await service.conceal(input, anonymous)).toEqual(refusal as never);
    expect(await service.generate({ ...anyGenerated, ...noted(text) }, anonymous)).toEqual(refusal as never);
    expect(records).toEqual([]);
  });

  it('has 140 emoji at most', async () => {
    const { share, read } = createWorld();
    const emoji = '\u{1f99f}'.repeat(140);
    expect(await read((await share('value', noted(emoji))).secretKey)).toBe(emoji);
  });
});

describe('the note of an end-to-end secret', () => {
  it('is there for the proof of the whole link, without the passphrase, as its client sealed it', async () => {
    const { share, read } = createWorld();
    const { secretKey } = await share('', sealedOptions());
    expect(await read(secretKey, sealed.proofs.linkProof)).toBe(sealed.wire.note ?? '');
  });

  it('is refused for half a link or a wrong proof, however often, and no attempt is counted (P14)', async () => {
    const { share, read, service, events } = createWorld();
    const { secretKey } = await share('', sealedOptions());
    for (let n = 0; n < attemptLimits.perLife + 1; n += 1)
      for (const proof of [null, new Uint8Array(32), sealed.proofs.proof, new Uint8Array(0)])
        expect(await read(secretKey, proof)).toEqual({ outcome: 'incomplete_link', hasNote: true });
    expect(events.map(({ event }) => event)).toEqual(['concealed']);
    const opened = await service.reveal({ ...guess(secretKey), proofs: sealed.proofs }, anonymous);
    expect(opened.outcome).toBe('revealed');
  });

  it('is none where its client sealed none, which a page learns without the proof', async () => {
    const { share, read } = createWorld();
    const none = clientSecret({ seed: 'none' });
    const { secretKey } = await share('', { sealed: none.input() });
    expect(await read(secretKey)).toEqual({ outcome: 'incomplete_link', hasNote: false });
    expect(await read(secretKey, none.proofs.linkProof)).toBeNull();
  });

  it('is refused in plain beside it, and with another length', async () => {
    const { service, records } = createWorld();
    const conceal = (options: object) =>
      service.conceal({ ...noOptions, value: new Sensitive(''), ...options }, anonymous);
    expect(await conceal({ ...sealedOptions(), ...noted() })).toEqual({
      outcome: 'sealed_beside',
      field: 'note',
    });
    for (const length of [0, 560, 575, 577])
      expect(await conceal({ sealed: { ...sealed.input(), note: new Uint8Array(length) } })).toEqual({
        outcome: 'sealed_wrongly',
        flaw: 'note',
      });
    expect(records).toEqual([]);
  });
});

describe('reading a note', () => {
  it('changes nothing of the secret or its receipt, and says nothing in an event (P4, P6)', async () => {
    const { share, read, service, events } = createWorld();
    const { secretKey, metadataKey } = await share('value', noted());
    const receipt = () => service.findReceipt(asHolder(metadataKey), anonymous);
    const before = await receipt();
    for (let n = 0; n < 3; n += 1) expect(await read(secretKey)).toBe(line);
    expect(await receipt()).toEqual(before);
    expect(events.map(({ event }) => event)).toEqual(['concealed']);
    expect(readBy(await service.reveal(guess(secretKey), anonymous))).toBe('value');
  });

  it('ends with the secret, read, burned by either or expired; a second look has none (P10)', async () => {
    const { share, read, service, advance } = createWorld();
    const one = (more: ShareOptions = {}) => share('value', { ...noted(), ...more });
    const made = [await one(), await one(), await one(), await one(), await one({ ttlSeconds: 60 })];
    const [opened = '', looked = '', burned = '', unwanted = '', expired = ''] = made.map(
      ({ secretKey }): string => secretKey,
    );
    await service.reveal(guess(opened), anonymous);
    await service.reveal({ ...guess(looked), look: new Uint8Array(16) }, anonymous);
    const { metadataKey } = made[2] ?? { metadataKey: '' };
    await service.burn({ ...asHolder(metadataKey), proof: null, isAbandoned: clientStays }, anonymous);
    await service.burnByRecipient(guess(unwanted));
    advance(60);
    for (const key of [opened, looked, burned, unwanted, expired, '0'.repeat(31), 'no key', metadataKey])
      expect(await read(key)).toEqual({ outcome: 'unknown' });
  });

  it('is kept by another lifetime', async () => {
    const { share, read, service } = createWorld();
    const { secretKey, metadataKey } = await share('value', noted());
    const change = { ...asHolder(metadataKey), memo: undefined, ttlSeconds: 86_400 };
    expect((await service.change(change, anonymous)).outcome).toBe('found');
    expect(await read(secretKey)).toBe(line);
  });
});
