/** The operator is told once when the mail server is lost, and once when it is back. */
import { describe, expect, it } from 'bun:test';
import type { LogLine } from './log-lines.ts';
import { createMailWatch } from './metrics.ts';

function setUp() {
  const lines: LogLine[] = [];
  return { lines, watch: createMailWatch((line) => void lines.push(line)) };
}

const refused = { code: 'ESOCKET', replyCode: null, willRetry: true };
const later = { code: 'EENVELOPE', replyCode: 451, willRetry: true };

describe('a mail server that cannot be reached', () => {
  it('is told once, not for every mail and every try, until it answers again', () => {
    const { lines, watch } = setUp();
    for (let mail = 0; mail < 50; mail++) watch.onFault(refused, 'unreachable');
    watch.onFault({ ...refused, code: 'EABORT' }, 'unanswered');
    expect(lines).toEqual([{ event: 'mail_server_lost', code: 'ESOCKET' }]);
    expect(watch.isReached()).toBe(false);
    for (let mail = 0; mail < 50; mail++) watch.onAnswer();
    expect(lines.slice(1)).toEqual([{ event: 'mail_server_back' }]);
    expect(watch.isReached()).toBe(true);
    watch.onFault(refused, 'unreachable');
    expect(lines).toHaveLength(3);
  });

  it('is told apart from one that answers: each fault of that is told', () => {
    const { lines, watch } = setUp();
    watch.onFault(later, null);
    watch.onFault({ ...later, replyCode: null }, 'unanswered');
    expect(lines.map(({ event }) => event)).toEqual(['mail_fault', 'mail_fault']);
    expect(watch.isReached()).toBe(true);
  });

  it('says nothing of a server that was never lost', () => {
    const { lines, watch } = setUp();
    watch.onAnswer();
    expect(lines).toEqual([]);
  });
});
