import { describe, expect, it } from 'bun:test';
import type { AccountId } from '../core/account.ts';
import type { LogLine } from './log-lines.ts';
import { createAnswerObserver, createEvents, openMetrics } from './metrics.ts';

describe('metrics', () => {
  it('count every event and every answer, by operation and status', async () => {
    const metrics = await openMetrics();
    const lines: LogLine[] = [];
    const events = createEvents((line) => void lines.push(line), metrics);
    const onAnswer = createAnswerObserver((line) => void lines.push(line), metrics);
    events({ event: 'concealed', tag: '0a1b2c3d', kind: 'generate', account: null });
    events({ event: 'reveal_forfeited', tag: '0a1b2c3d' });
    events({ event: 'mail_ended', tag: '0a1b2c3d', state: 'accepted' });
    const answered = {
      operation: 'v2.reveal',
      method: 'POST',
      status: 404,
      durationMs: 2,
      requestId: '0'.repeat(20),
    };
    onAnswer({ ...answered, accountId: 3 as AccountId });
    onAnswer({ ...answered, operation: null, accountId: null });
    const text = await metrics.render();
    expect(text).toContain('mayfly_concealed_total{kind="generate"} 1');
    expect(text).toContain('mayfly_reveal_forfeited_total 1');
    expect(text).toContain('mayfly_mail_ended_total{state="accepted"} 1');
    expect(text).toContain('mayfly_requests_total{operation="v2.reveal",status="404"} 1');
    expect(text).toContain('mayfly_requests_total{operation="none",status="404"} 1');
    expect(text).toContain('mayfly_request_seconds_count{operation="v2.reveal"} 1');
    expect(lines).toHaveLength(5);
    expect(lines[3]).toMatchObject({ event: 'request', account: 3 });
  });

  it('count what happens to accounts by kind and by way, and refused log-ins without saying whose', async () => {
    const metrics = await openMetrics();
    const account = 7_654_321 as AccountId;
    metrics.countEvent({ event: 'signed_up', account });
    metrics.countEvent({ event: 'logged_in', account });
    for (let guess = 0; guess < 3; guess++) metrics.countEvent({ event: 'log_in_refused' });
    metrics.countEvent({ event: 'password_changed', account, by: 'reset' });
    metrics.countEvent({ event: 'account_deleted', account, burned: 2 });
    metrics.countEvent({ event: 'account_mail_ended', kind: 'already_signed_up', state: 'accepted' });
    metrics.countEvent({ event: 'account_mail_ended', kind: 'secret_read', state: 'given_up' });
    metrics.countEvent({ event: 'domain_checked', account, domainState: 'verified' });
    const text = await metrics.render();
    for (const line of [
      'mayfly_signed_up_total 1',
      'mayfly_logged_in_total 1',
      'mayfly_log_in_refused_total 3',
      'mayfly_password_changed_total{by="reset"} 1',
      'mayfly_account_deleted_total 1',
      'mayfly_account_mail_ended_total{kind="already_signed_up",state="accepted"} 1',
      'mayfly_account_mail_ended_total{kind="secret_read",state="given_up"} 1',
      'mayfly_domain_checked_total{domainState="verified"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain(String(account));
  });

  it('say how much the store holds when they are read, and its limit (P21)', async () => {
    let bytes = 4096;
    const metrics = await openMetrics({ usedBytes: async () => bytes, maxBytes: 1_000_000 });
    expect(await metrics.render()).toContain('\nmayfly_storage_used_bytes 4096\n');
    bytes = 8192;
    const text = await metrics.render();
    expect(text).toContain('\nmayfly_storage_used_bytes 8192\n');
    expect(text).toContain('\nmayfly_storage_limit_bytes 1000000\n');
    const unlimited = await openMetrics({ usedBytes: async () => 1, maxBytes: null });
    expect(await unlimited.render()).not.toContain('mayfly_storage_limit_bytes');
  });

  it('are still to be had while the store does not answer', async () => {
    const usedBytes = () => Promise.reject(new Error('down'));
    const text = await (await openMetrics({ usedBytes, maxBytes: 1 })).render();
    expect(text).toContain('mayfly_storage_used_bytes Nan\n');
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('say whether the mail server was reached when it was last tried', async () => {
    let isReached = true;
    const metrics = await openMetrics(undefined, () => isReached);
    expect(await metrics.render()).toContain('\nmayfly_mail_server_reachable 1\n');
    isReached = false;
    expect(await metrics.render()).toContain('\nmayfly_mail_server_reachable 0\n');
    expect(await (await openMetrics()).render()).not.toContain('mayfly_mail_server_reachable');
  });

  it('have no series for a tag, so that their number is bounded and no key can be followed (P18)', async () => {
    const metrics = await openMetrics();
    metrics.countEvent({ event: 'revealed', tag: 'feedface' });
    expect(await metrics.render()).not.toContain('feedface');
  });
});
