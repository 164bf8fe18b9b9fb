import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { proxiesOf } from '../../test/support/settings.ts';
import { addressRanges } from '../config/addresses.ts';
import {
  addressWithoutSocket,
  type ClientAddressOf,
  clientPrefixOf,
  createClientAddressOf,
  parseAddress,
} from './client-address.ts';

function resolver(ranges: readonly string[]): ClientAddressOf {
  const trusted = proxiesOf(ranges);
  return createClientAddressOf(trusted);
}

function from(peer: string, forwarded?: string): [Request, { requestIP(): { address: string } }] {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return [new Request('http://localhost/', { headers }), { requestIP: () => ({ address: peer }) }];
}

const proxies = resolver(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

/** Takes the first entry, as many services do, so the client chooses its own address. */
const leftmost: ClientAddressOf = (request, peer) =>
  request.headers.get('x-forwarded-for')?.split(',')[0]?.trim() ?? peer?.requestIP?.(request)?.address ?? '';

function canBeSpoofed(addressOf: ClientAddressOf): boolean {
  // The client sent the first entry itself; the proxy appended the address it saw.
  return addressOf(...from('10.0.0.1', '198.51.100.1, 203.0.113.9')) !== '203.0.113.9';
}

describe('a proxy that is not trusted', () => {
  function told(ranges: readonly string[], ...calls: readonly ReturnType<typeof from>[]): number {
    const trusted = proxiesOf(ranges);
    let times = 0;
    const addressOf = createClientAddressOf(trusted, () => {
      times += 1;
    });
    for (const call of calls) addressOf(...call);
    return times;
  }

  it('is told of once, when it is on a loopback or private address (P22)', () => {
    for (const peer of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '172.17.0.1', 'fd00::2']) {
      const call = from(peer, '198.51.100.1');
      expect([peer, told([], call, call, call)]).toEqual([peer, 1]);
      expect([peer, told(['192.0.2.7'], call, call)]).toEqual([peer, 1]);
    }
    const [request, peer] = from('127.0.0.1');
    request.headers.set('forwarded', 'for=198.51.100.1');
    expect(told([], [request, peer])).toBe(1);
  });

  it('is no more than a visitor who writes the header when it is on a public address, and no proxy without it', () => {
    for (const peer of ['203.0.113.9', '172.32.0.1', '2001:db8::1'])
      expect(told([], from(peer, '198.51.100.1'))).toBe(0);
    expect(told([], from('127.0.0.1'))).toBe(0);
    expect(told(['127.0.0.1'], from('127.0.0.1', '198.51.100.1'))).toBe(0);
  });
});

describe('the client address', () => {
  it("P22 is the socket's when no proxy is trusted, whatever the request says", () => {
    expect(resolver([])(...from('203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
  });

  it("P22 is the socket's when the peer is no trusted proxy", () => {
    expect(proxies(...from('203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(proxies(...from('192.0.2.8', '198.51.100.1'))).toBe('192.0.2.8');
  });

  it('P22 is what the nearest trusted proxy saw: entries a client adds in front count for nothing', () => {
    expect(canBeSpoofed(proxies)).toBe(false);
  });

  it('P22 reading from the left would let a client choose its address (self-test)', () => {
    expect(canBeSpoofed(leftmost)).toBe(true);
  });

  it('P22 skips trusted proxies from the right, over several hops', () => {
    expect(proxies(...from('10.0.0.1', '1.1.1.1, 203.0.113.9, 10.1.2.3, fd00::5'))).toBe('203.0.113.9');
  });

  it('is the leftmost when every hop is trusted', () => {
    expect(proxies(...from('10.0.0.1', '10.0.0.3, 10.0.0.2'))).toBe('10.0.0.3');
  });

  it.each([
    '',
    ' ',
    'unknown',
    '_hidden',
    '203.0.113.9:99999999',
    '203.0.113',
    '203.0.113.9, ',
    '[::1',
    '1.2.3.4.5',
    '::1%eth0, x',
  ])("P22 is the socket's when what the proxy wrote is garbage: %j", (forwarded) => {
    expect(proxies(...from('10.0.0.1', forwarded))).toBe('10.0.0.1');
  });

  it('reads an address with a port, in brackets, with a zone, or mapped into IPv6', () => {
    expect(proxies(...from('10.0.0.1', '203.0.113.9:4711'))).toBe('203.0.113.9');
    expect(proxies(...from('10.0.0.1', '[2001:db8::1]:4711'))).toBe('2001:db8::1');
    expect(proxies(...from('10.0.0.1', '[2001:DB8::1]'))).toBe('2001:db8::1');
    expect(proxies(...from('10.0.0.1', 'fe80::1%eth0'))).toBe('fe80::1');
    expect(proxies(...from('10.0.0.1', '::ffff:203.0.113.9'))).toBe('203.0.113.9');
  });

  it('trusts a proxy whose IPv4 address arrives mapped into IPv6', () => {
    expect(proxies(...from('::ffff:10.0.0.1', '203.0.113.9'))).toBe('203.0.113.9');
    expect(proxies(...from('::ffff:0a00:0001', '203.0.113.9'))).toBe('203.0.113.9');
  });

  it('P21 looks at 32 hops and no further', () => {
    const chainOf = (hops: number) => ['203.0.113.9', ...new Array<string>(hops).fill('10.0.0.2')].join(', ');
    expect(proxies(...from('10.0.0.1', chainOf(31)))).toBe('203.0.113.9');
    expect(proxies(...from('10.0.0.1', chainOf(32)))).toBe('10.0.0.2');
  });

  it('P21 looks at a bounded number of hops', () => {
    expect(proxies(...from('10.0.0.1', `203.0.113.9, ${new Array(1_000).fill('10.0.0.2').join(', ')}`))).toBe(
      '10.0.0.2',
    );
  });

  it('is the loopback address where there is no socket', () => {
    const request = new Request('http://localhost/');
    expect(resolver([])(request, undefined)).toBe(addressWithoutSocket);
    expect(resolver([])(request, { requestIP: () => null })).toBe(addressWithoutSocket);
    expect(resolver([])(request, {})).toBe(addressWithoutSocket);
  });
});

describe('trusted proxies', () => {
  it.each([
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    'proxy.example',
    '10.0.0.1/',
    '10.0.0.1/8/8',
    '',
    'fe80::1%eth0/64',
    '10.0.0.1/ 8',
  ])('refuses %j with a sentence', (range) => {
    expect(addressRanges.parse(range, () => '')).toEqual({
      problem: expect.stringContaining('it must be addresses or ranges'),
    });
  });

  it('holds exactly the addresses of its ranges', () => {
    const trusted = proxiesOf(['10.1.0.0/16', '2001:db8::/32', '192.0.2.1', '::1']);
    const inside = ['10.1.255.255', '2001:db8:ffff::1', '192.0.2.1', '::1'];
    const outside = ['10.2.0.0', '2001:db9::', '192.0.2.2', '::2', '127.0.0.1'];
    expect([...inside, ...outside].filter((address) => trusted.has(address))).toEqual(inside);
  });
});

/** The same address in full, in upper case, with leading zeros, with each run of zeros left out, and dotted at the end. */
function spellingsOf(groups: readonly number[]): string[] {
  const plain = groups.map((group) => group.toString(16));
  const padded = plain.map((group) => group.padStart(4, '0'));
  const [high = 0, low = 0] = groups.slice(6);
  const dotted = `${plain.slice(0, 6).join(':')}:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  const shortened: string[] = [];
  for (let from = 0; from < 8; from++) {
    for (let to = from + 1; to <= 8 && groups[to - 1] === 0; to++) {
      shortened.push(`${plain.slice(0, from).join(':')}::${plain.slice(to).join(':')}`);
    }
  }
  return [plain.join(':'), plain.join(':').toUpperCase(), padded.join(':'), dotted, ...shortened];
}

describe('parseAddress', () => {
  it.each([
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:FFFF:0102:0304', '1.2.3.4'],
    ['::1', '::1'],
    ['::1.2.3.4', '::1.2.3.4'],
    ['::fffe:102:304', '::fffe:102:304'],
    ['0:0:0:0:1:ffff:102:304', '0:0:0:0:1:ffff:102:304'],
    ['0:1::ffff:102:304', '0:1::ffff:102:304'],
  ])('P22 reads IPv4 only where IPv6 wraps it: %s as %s', (text, address) => {
    expect(parseAddress(text)).toBe(address);
  });
});

describe('clientPrefixOf', () => {
  it.each([
    ['203.0.113.9', '203.0.113.0/24'],
    ['0.0.0.0', '0.0.0.0/24'],
    ['2001:db8:0:1ff::1', '2001:db8:0:100::/56'],
    ['2001:db8::1', '2001:db8:0:0::/56'],
    ['::1', '0:0:0:0::/56'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56'],
    ['1:2:3:4ff:5:6:7::', '1:2:3:400::/56'],
  ])('counts %s as %s', (address, prefix) => {
    expect(clientPrefixOf(address)).toBe(prefix);
  });

  it('has one spelling for every way to write an IPv6 address', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const prefixes = new Set(
          spellingsOf(groups).map((text) => clientPrefixOf(parseAddress(text) ?? 'none')),
        );
        expect([...prefixes]).toHaveLength(1);
        expect(prefixes.has('none.0/24')).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same for two addresses exactly when their first 56 bits are', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const groups = fc.array(group, { minLength: 8, maxLength: 8 });
    const text = (parts: number[]) => parts.map((part) => part.toString(16)).join(':');
    fc.assert(
      fc.property(groups, fc.integer({ min: 0, max: 127 }), (parts, bit) => {
        fc.pre(parts.slice(0, 5).some((part) => part !== 0));
        const flipped = parts.map((part, at) => (at === bit >> 4 ? part ^ (0x8000 >> (bit & 15)) : part));
        fc.pre(flipped.slice(0, 5).some((part) => part !== 0));
        const isSame = clientPrefixOf(text(parts)) === clientPrefixOf(text(flipped));
        expect(isSame).toBe(bit >= 56);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('parseAddress', () => {
  it('P24 gives an address or nothing for any text, and never throws', () => {
    const any = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV6().map((text) => `${text}%z`),
    );
    fc.assert(
      fc.property(any, (text) => {
        const address = parseAddress(text);
        expect(address === null || /^[\d.]+\.0\/24$|^[\da-f:]+::\/56$/.test(clientPrefixOf(address))).toBe(
          true,
        );
      }),
      { numRuns: 1_000 },
    );
  });
});
