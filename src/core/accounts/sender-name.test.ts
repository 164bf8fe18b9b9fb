/** Proves what may be a sender's name: nothing that reads as an address, a link or a number, and nothing that cannot be seen (P26). */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { giveDomain } from '../../../test/support/own-domain.ts';
import { createBench } from '../../../test/support/service-bench.ts';
import { plainBrand } from '../share-domain.ts';
import { maxSenderName, parseSenderName, senderNameOf } from './sender-name.ts';

describe('a sender’s name', () => {
  it.each([
    ['IT Helpdesk', 'IT Helpdesk'],
    ['  IT   Helpdesk ', 'IT Helpdesk'],
    ['J.R.R. O’Neill-Søn, M.D.', 'J.R.R. O’Neill-Søn, M.D.'],
    ["D'Arcy & Sons (Payroll) + 24", "D'Arcy & Sons (Payroll) + 24"],
    ['Zoe\u0308', 'Zoë'],
    ['Нотаріус Ковальчук', 'Нотаріус Ковальчук'],
    ['サポート窓口・東京', 'サポート窓口・東京'],
    ['财务部', '财务部'],
    ['الدعم التقني', 'الدعم التقني'],
    ['תמיכה טכנית', 'תמיכה טכנית'],
    ['ฝ่ายไอที', 'ฝ่ายไอที'],
    ['n'.repeat(maxSenderName), 'n'.repeat(maxSenderName)],
  ])('may be %j', (text, name) => expect(parseSenderName(text)).toBe(name));

  it.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['no letter', '24 + 7'],
    ['too many', 'n'.repeat(maxSenderName + 1)],
    ['a hundred thousand', 'n '.repeat(50_000)],
    ['an address', 'boss@example.com'],
    ['an address in full width', 'boss＠example'],
    ['a host', 'example.com'],
    ['a host in a sentence', 'See example.com now'],
    ['a host in another script', 'пример.рф'],
    ['a host with an ideographic full stop', 'example。com'],
    ['a host with a one-dot leader', 'example\u2024com'],
    ['a link', 'https://x'],
    ['a path', 'x/y'],
    ['a telephone number', 'Call 555 0100 now'],
    ['one with dots', 'IT 5.5.5.0.1.0'],
    ['a line break', 'IT\nBcc: x'],
    ['a header', 'IT\r\nBcc'],
    ['a NUL', 'IT\u0000'],
    ['a tab', 'IT\tHelp'],
    ['angle brackets', 'IT <b>'],
    ['quotes', '"IT"'],
    ['an encoded word', '=?utf-8?q?IT?='],
    ['a placeholder', '{sender}'],
    ['an override of direction', 'IT \u202epleH'],
    ['an isolate', 'IT\u2068x\u2069'],
    ['a zero-width space', 'I\u200bT'],
    ['a zero-width joiner', 'I\u200dT'],
    ['a soft hyphen', 'Help\u00addesk'],
    ['a Hangul filler', 'IT\u3164Help'],
    ['a halfwidth filler', 'IT\uffa0'],
    ['a variation selector', 'IT\ufe0f'],
    ['a tag', 'IT\u{e0041}'],
    ['a no-break space', 'IT\u00a0Help'],
    ['a heap of marks', 'I\u0300\u0301\u0302\u0303\u0304T'],
    ['half of a pair', 'IT\ud83d'],
    ['a private character', 'IT\ue000'],
    ['a picture', 'IT 😀'],
    ['a tick', 'IT ✓'],
  ])('is not %s', (_what, text) => expect(parseSenderName(text)).toBeNull());

  it('is one visible line without anything to press, whatever it is made of', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('a', '.', 'bc', ' ', '1', '@', '\n'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const name = parseSenderName(pieces.join(''));
        if (name === null) return;
        expect(name).not.toMatch(/[\p{C}\p{Zl}\p{Zp}@:/\\<>"=?{}]|\p{L}\.\p{L}\p{L}/u);
        expect(parseSenderName(name)).toBe(name);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('who a recipient reads has sent it', () => {
  const domain = 'secrets.example.org';

  it('is the account’s name, else that of its own share domain, and nobody else’s', async () => {
    const { deps, signUp } = createBench();
    const [ann, eve] = [(await signUp('ann@example.org')).account, (await signUp('eve@example.org')).account];
    await giveDomain(deps.store, ann.id, domain);
    const named = (account: typeof ann, shareDomain: string) =>
      senderNameOf(deps.store, account, shareDomain);
    expect(await named(ann, domain)).toBeNull();
    await deps.store.setDomainBrand(ann.id, domain, { ...plainBrand, name: 'Example Safe' });
    expect([await named(ann, domain), await named(ann, ''), await named(eve, domain)]).toEqual([
      'Example Safe',
      null,
      null,
    ]);
    const helpdesk = { ...ann, senderName: 'IT Helpdesk' };
    expect([await named(helpdesk, domain), await named(helpdesk, '')]).toEqual([
      'IT Helpdesk',
      'IT Helpdesk',
    ]);
    await deps.store.setDomainBrand(ann.id, domain, { ...plainBrand, name: 'example.org' });
    expect(await named(ann, domain)).toBeNull();
  });
});
