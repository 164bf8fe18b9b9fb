/** What an attempt that ended without an answer is called. */
import { describe, expect, it } from 'bun:test';
import { toFault, troubleOf } from './faults.ts';

const troubleIn = (error: object) => troubleOf(toFault(error));

describe('a mail server', () => {
  it.each([
    ['its name is unknown', { code: 'EDNS' }],
    ['nothing listens there', { code: 'ESOCKET', originalCode: 'ECONNREFUSED', command: 'CONN' }],
    ['there is no way to it', { code: 'ESOCKET', originalCode: 'EHOSTUNREACH', command: 'CONN' }],
    ['the network is down', { code: 'ECONNECTION', originalCode: 'ENETUNREACH', command: 'CONN' }],
    ['the connection takes too long', { code: 'ETIMEDOUT', timeoutType: 'CONNECT_TIMEOUT', command: 'CONN' }],
  ])('cannot be reached when %s', (_what, error) => expect(troubleIn(error)).toBe('unreachable'));

  it.each([
    ['breaks off', { code: 'ECONNECTION', command: 'CONN' }],
    ['resets the connection', { code: 'ESOCKET', originalCode: 'ECONNRESET', command: 'MAIL FROM' }],
    ['does not greet', { code: 'ETIMEDOUT', timeoutType: 'GREETING_TIMEOUT', command: 'CONN' }],
    ['trickles', { code: 'EABORT' }],
  ])('does not answer when it %s', (_what, error) => expect(troubleIn(error)).toBe('unanswered'));

  it.each([
    ['asks to come back later', { code: 'EENVELOPE', responseCode: 451, response: '451 Later' }],
    ['refuses the log-in', { code: 'EAUTH', responseCode: 535, response: '535 No' }],
    ['has a certificate that nobody vouches for', { code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' }],
    ['speaks another protocol', { code: 'EPROTOCOL' }],
    ['is not to blame', new TypeError('x')],
  ])('is in no such trouble when it %s', (_what, error) => expect(troubleIn(error)).toBeNull());
});
