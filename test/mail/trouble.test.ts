/** A mail server that disconnects, stalls or talks nonsense at each step of the dialog. */
import { describe, expect, it } from 'bun:test';
import { createServer } from 'node:net';
import { mailTroubles } from '../../src/core/secrets/link-mail.ts';
import { sampleMail } from './post-office.ts';
import { mailerFor } from './smtp-mailer.ts';
import { openStubbornServer, type Step, steps } from './stubborn-server.ts';

/** With a log-in, so that it can fail at that step too. */
function withLogIn(url: string): string {
  return url.replace('//', '//user:pass@');
}

/** Short enough to wait for. On a busy machine a good attempt may be slower than that; it is then retried. */
const stallMs = 400;

for (const at of steps) {
  describe(`a mail server in trouble at the step ${at}`, () => {
    for (const does of ['drop', 'stall'] as const) {
      it(`that ${does === 'drop' ? 'breaks off' : 'falls silent'} is tried again on a new connection`, async () => {
        await using server = await openStubbornServer([{ at, does }]);
        using post = mailerFor(
          { url: withLogIn(server.url) },
          { attemptTimeoutMs: does === 'stall' ? stallMs : 10_000 },
        );
        const ended = await post.mailer.sendSecretLink(sampleMail(), post.onRetry);
        expect(ended).toEqual({ state: 'accepted', reply: '250 2.0.0 Ok: queued as 4F1D2' });
        expect(post.pausesMs()[0]).toBe(5_000);
        expect(post.faults[0]).toMatchObject({ replyCode: null, willRetry: true });
        expect(server.heard.length).toBeGreaterThanOrEqual(2);
      });

      it(`that ${does === 'drop' ? 'breaks off' : 'falls silent'} every time is given up, and the sender hears that no answer came`, async () => {
        await using server = await openStubbornServer([
          { at, does },
          { at, does },
        ]);
        using post = mailerFor(
          { url: withLogIn(server.url) },
          { attemptTimeoutMs: does === 'stall' ? stallMs : 10_000, retryDelaysMs: [1] },
        );
        // On a busy machine, a stall can begin before the connection is known to be open.
        const allowed = does === 'drop' ? [mailTroubles.unanswered] : Object.values(mailTroubles);
        const { state, reply } = await post.mailer.sendSecretLink(sampleMail(), post.onRetry);
        expect(state).toBe('given_up');
        expect(allowed).toContain(reply as never);
        const told = post.steps[0]?.[0] === 'told' ? post.steps[0][2] : null;
        expect(allowed).toContain(told as never);
      });
    }

    it('that asks to come back later is tried again', async () => {
      await using server = await openStubbornServer([{ at, says: '421 4.3.2 Closing' }]);
      using post = mailerFor({ url: withLogIn(server.url) });
      expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
      expect(post.faults).toEqual([expect.objectContaining({ replyCode: 421, willRetry: true })]);
    });
  });
}

describe('a mail server in trouble', () => {
  it('is given up with what it said before the line broke', async () => {
    await using server = await openStubbornServer([
      { at: 'RCPT', says: '450-4.2.0 Not now\r\n450 perhaps later' },
      { at: 'EHLO', does: 'drop' },
    ]);
    using post = mailerFor(server, { retryDelaysMs: [1] });
    expect(await post.mailer.sendSecretLink(sampleMail())).toEqual({
      state: 'given_up',
      reply: '450 4.2.0 Not now perhaps later',
    });
  });

  const nonsense: readonly [Step, string][] = [
    ['greeting', '554 No mail from you'],
    ['greeting', 'HTTP/1.1 400 Bad Request'],
    ['AUTH', '535 5.7.8 No'],
  ];
  for (const [at, says] of nonsense) {
    it(`that says "${says}" at the step ${at} gets no mail, and is not asked again`, async () => {
      await using server = await openStubbornServer([{ at, says }]);
      using post = mailerFor({ url: withLogIn(server.url) });
      expect(await post.mailer.sendSecretLink(sampleMail(), post.onRetry)).toEqual({
        state: 'not_sent',
        reply: null,
      });
      expect([post.steps, server.taken, server.heard.length]).toEqual([[], [], 1]);
    });
  }

  it('that trickles its greeting for ever is left as well', async () => {
    const timers = new Set<Timer>();
    const trickler = createServer((socket) => {
      socket.on('error', () => {});
      timers.add(setInterval(() => socket.write('220-please hold\r\n'), 20));
    });
    await new Promise<void>((resolve) => trickler.listen(0, '127.0.0.1', resolve));
    const { port } = trickler.address() as { port: number };
    using post = mailerFor(
      { url: `smtp://127.0.0.1:${port}` },
      { attemptTimeoutMs: stallMs, retryDelaysMs: [] },
    );
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('given_up');
    for (const timer of timers) clearInterval(timer);
    trickler.close();
  });

  it('that is down is tried a bounded number of times, and the sender hears it from the first try on', async () => {
    const server = await openStubbornServer();
    await server[Symbol.asyncDispose]();
    using post = mailerFor(server, { retryDelaysMs: [1, 1] });
    const reply = mailTroubles.unreachable;
    expect(await post.mailer.sendSecretLink(sampleMail(), post.onRetry)).toEqual({
      state: 'given_up',
      reply,
    });
    const told = ['told', 36, reply] as const;
    expect(post.steps).toEqual([told, ['paused', 1], told, ['paused', 1]]);
    expect(post.troubles).toEqual(['unreachable', 'unreachable', 'unreachable']);
    expect(post.answers()).toBe(0);
  });

  it('that comes back is heard again: its own words take the place of ours', async () => {
    await using server = await openStubbornServer([
      { at: 'greeting', does: 'drop' },
      { at: 'RCPT', says: '450 Not now' },
    ]);
    using post = mailerFor(server);
    expect((await post.mailer.sendSecretLink(sampleMail(), post.onRetry)).state).toBe('accepted');
    const told = post.steps.flatMap((step) => (step[0] === 'told' ? [step[2]] : []));
    expect(told).toEqual([mailTroubles.unanswered, '450 Not now']);
    expect([post.troubles, post.answers()]).toEqual([['unanswered', null], 2]);
  });

  it('self-test: a step that goes well is no trouble', async () => {
    await using server = await openStubbornServer(['well']);
    using post = mailerFor({ url: withLogIn(server.url) });
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
    expect([post.faults, server.taken.length, server.heard.length]).toEqual([[], 1, 1]);
  });
});
