import { describe, expect, it } from 'bun:test';
import type { AccountId } from '../core/account.ts';
import { ServiceError } from '../core/errors.ts';
import { createLineWriter, createLogger } from './log.ts';
import { describeFault, type LogLevel, type LogLine } from './log-lines.ts';

const account = 7 as AccountId;
const secretKey = 'v1jg3p6k0d8xq2m5n7r9t4w6y8z0b2c';
const token = 'ab'.repeat(32);
const address = 'jo@example.org';

function record(level: LogLevel = 'debug') {
  const texts: string[] = [];
  const timers: { milliseconds: number; run: () => void }[] = [];
  const writer = { write: (text: string) => void texts.push(text), takeDropped: () => 0 };
  const after = (milliseconds: number, run: () => void) => void timers.push({ milliseconds, run });
  const logger = createLogger({ level, writer, wallClockMs: () => 1_800_000_000_000, after });
  const lines = () =>
    texts
      .join('')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { logger, lines, texts, timers };
}

const request = {
  event: 'request',
  operation: 'v2.conceal',
  method: 'POST',
  status: 200,
  durationMs: 1.26,
  requestId: '0123456789abcdef0123',
  account,
} as const;

describe('the log', () => {
  it('writes one JSON object a line, with level, time and the fields of the event', async () => {
    const { logger, lines } = record('debug');
    logger.log(request);
    logger.log({ event: 'concealed', tag: '0a1b2c3d', kind: 'conceal', account: null });
    await logger.close();
    expect(lines()).toEqual([
      { level: 'debug', time: '2027-01-15T08:00:00.000Z', ...request, durationMs: 1.3 },
      {
        level: 'info',
        time: '2027-01-15T08:00:00.000Z',
        event: 'concealed',
        tag: '0a1b2c3d',
        kind: 'conceal',
        account: null,
      },
    ]);
  });

  it('names accounts by their ids, and says of a refused log-in only that there was one (P18)', async () => {
    const { logger, lines } = record('debug');
    const told: readonly LogLine[] = [
      { event: 'signed_up', account },
      { event: 'logged_in', account },
      { event: 'log_in_refused' },
      { event: 'password_changed', account, by: 'reset' },
      { event: 'account_deleted', account, burned: 3 },
      { event: 'account_mail_ended', kind: 'already_signed_up', state: 'not_sent' },
      { event: 'account_mail_ended', kind: 'secret_read', state: 'accepted' },
      { event: 'account_mail_ended', kind: 'secret_burned', state: 'refused' },
      { event: 'account_mail_ended', kind: 'secret_expiring', state: 'given_up' },
      { event: 'domain_checked', account, domainState: 'lost' },
    ];
    for (const line of told) logger.log(line);
    await logger.close();
    const head = { level: 'info', time: '2027-01-15T08:00:00.000Z' };
    expect(lines()).toEqual(told.map((line) => ({ ...head, ...line })));
  });

  it('leaves out what is less serious than its level', async () => {
    const { logger, lines } = record('warn');
    logger.log(request);
    logger.log({ ...request, status: 503 });
    logger.log({ event: 'attempts_exhausted', tag: '0a1b2c3d' });
    await logger.close();
    expect(lines().map((line) => line.level)).toEqual(['warn', 'warn']);
  });

  it('tells at `info` only of a sweep that was long enough to be felt', async () => {
    const { logger, lines } = record();
    for (const records of [1, 10_000, 10_001, 1_100_000])
      logger.log({ event: 'swept', records, durationMs: 1 });
    await logger.close();
    expect(lines().map(({ level, records }) => [level, records])).toEqual([
      ['debug', 1],
      ['debug', 10_000],
      ['info', 10_001],
      ['info', 1_100_000],
    ]);
  });

  it('collects the lines of a turn of the event loop into one write, and waits longer before the first', async () => {
    const { logger, texts, timers } = record();
    logger.log(request);
    logger.log(request);
    expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([300]);
    expect(texts).toEqual([]);
    await logger.close();
    expect(texts).toHaveLength(1);
    logger.log(request);
    expect(timers.at(-1)?.milliseconds).toBe(0);
    await logger.close();
  });

  const smuggled: readonly (readonly [string, LogLine])[] = [
    ['a secret key as an operation', { ...request, operation: secretKey }],
    ['a path as an operation', { ...request, operation: `/secret/${secretKey}` }],
    ['a key behind a dot', { ...request, operation: `v2.${secretKey}` }],
    ['a token as a request id', { ...request, requestId: token }],
    ['a key as a tag', { event: 'revealed', tag: secretKey }],
    ['an address as an account', { ...request, account: address as unknown as AccountId }],
    [
      'a field that no event has',
      { ...request, path: `/secret/${secretKey}`, passphrase: 'canary' } as LogLine,
    ],
    ['an address beside a refused log-in', { event: 'log_in_refused', email: address } as LogLine],
    [
      'an address as the kind of a mail',
      { event: 'account_mail_ended', kind: address, state: token } as unknown as LogLine,
    ],
    [
      'a password as the way it was changed',
      { event: 'password_changed', account, by: 'canary' } as unknown as LogLine,
    ],
    ['an event of its own', { event: secretKey } as unknown as LogLine],
    [
      'an object in the place of a word',
      { event: 'revealed', tag: { secretKey, token, address } } as unknown as LogLine,
    ],
    [
      'an error that quotes it',
      { event: 'fault', where: 'request', error: new Error(`${secretKey} canary ${token} ${address}`) },
    ],
    [
      'a mail fault that quotes the address',
      { event: 'mail_fault', code: `550 ${address}`, replyCode: 550, willRetry: false },
    ],
  ];
  it.each(smuggled)('withholds %s (P18)', async (_name, line) => {
    const { logger, texts } = record();
    logger.log(line);
    await logger.close();
    const text = texts.join('');
    expect(text).not.toBe('');
    for (const canary of [secretKey, token, address, 'canary']) expect(text).not.toContain(canary);
  });
});

describe('what a log says of an error', () => {
  it('is its class, its code, its cause and its place in the source, never its message (P18)', () => {
    const cause = Object.assign(new Error('database or disk is full'), {
      name: 'SQLiteError',
      code: 'SQLITE_FULL',
    });
    const fault = describeFault(new ServiceError('storage_full', 'canary', { cause }));
    expect(fault.error).toBe('ServiceError');
    expect(fault.code).toBe('storage_full');
    expect(fault.cause).toBe('SQLiteError SQLITE_FULL');
    expect(fault.at[0]).toMatch(/src\/ops\/log\.test\.ts:\d+$/);
    expect(JSON.stringify(fault)).not.toContain('canary');
  });

  it('does not take a message for a place', () => {
    const fault = describeFault(new Error('x\n    at canary (/src/canary.ts:1:1)'));
    expect(JSON.stringify(fault)).not.toContain('canary');
  });

  it('names no folder of the machine', () => {
    const fault = describeFault(new Error('x'));
    expect(fault.at.every((place) => !/ \/|^\//.test(place))).toBe(true);
  });

  it('is said of anything that can be thrown', () => {
    for (const thrown of [
      null,
      undefined,
      'canary',
      7,
      { code: 'canary value', message: 'canary' },
      Symbol('canary'),
    ]) {
      expect(JSON.stringify(describeFault(thrown))).not.toContain('canary');
    }
  });
});

describe('the line writer', () => {
  function busyPipe() {
    const written: string[] = [];
    const retries: (() => void)[] = [];
    const pipe = { isBusy: false, isGone: false };
    const writer = createLineWriter(
      (bytes) => {
        if (pipe.isGone) throw Object.assign(new Error(), { code: 'EPIPE' });
        if (pipe.isBusy) throw Object.assign(new Error(), { code: 'EAGAIN' });
        // Accepts only a part, as a pipe may.
        const part = bytes.subarray(0, 7);
        written.push(Buffer.from(part).toString());
        return part.length;
      },
      (retry) => void retries.push(retry),
    );
    return { writer, pipe, retries, text: () => written.join('') };
  }

  it('writes on where a pipe took a part', () => {
    const { writer, text } = busyPipe();
    writer.write('first line\n');
    writer.write('second line\n');
    expect(text()).toBe('first line\nsecond line\n');
  });

  it('keeps lines for a busy reader and does not wait for it (P24)', () => {
    const { writer, pipe, retries, text } = busyPipe();
    pipe.isBusy = true;
    writer.write('first\n');
    writer.write('second\n');
    expect(text()).toBe('');
    expect(retries).toHaveLength(1);
    pipe.isBusy = false;
    retries[0]?.();
    expect(text()).toBe('first\nsecond\n');
  });

  it('drops and counts what a reader that stalls leaves no room for (P21)', () => {
    const { writer, pipe } = busyPipe();
    pipe.isBusy = true;
    for (let megabytes = 0; megabytes < 3; megabytes++) writer.write(`${'x'.repeat(700_000)}\n`);
    expect(writer.takeDropped()).toBe(2);
    expect(writer.takeDropped()).toBe(0);
  });

  it('survives a reader that is gone', () => {
    const { writer, pipe } = busyPipe();
    pipe.isGone = true;
    expect(() => writer.write('nobody\n')).not.toThrow();
  });
});
