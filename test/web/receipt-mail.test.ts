/** The mail on its sender's receipt: the words for every state, the mail server's own reply, and never the address. */
import { describe, expect, it } from 'bun:test';
import type { Handover } from '../../src/core/mailer.ts';
import { mailTroubles } from '../../src/core/secrets/link-mail.ts';
import { translate } from '../../src/locale/translate.ts';
import { type Mailed, mailSecret, openMailServer, press, recipient, taken } from './mailed.ts';
import { postForm, share, visit, wordsOf } from './visit.ts';
import { saying, words } from './words.ts';

interface Expected {
  readonly label: string;
  readonly help: string;
}

const expected: Readonly<Record<Handover['state'] | 'queued', Expected>> = {
  queued: { label: words('receipt.mailQueued'), help: words('receipt.mailQueuedHelp') },
  accepted: { label: words('receipt.mailAccepted'), help: words('receipt.mailAcceptedHelp') },
  refused: { label: words('receipt.mailSaidNo'), help: words('receipt.mailSaidNoHelp') },
  given_up: { label: words('receipt.mailGivenUp'), help: words('receipt.mailGivenUpHelp') },
  not_sent: { label: words('receipt.mailUnsent'), help: words('receipt.mailUnsentHelp') },
};

const ends: readonly Handover[] = [
  taken,
  { state: 'refused', reply: '550 5.1.1 No such user here' },
  { state: 'given_up', reply: '451 4.7.1 Greylisted, try again later' },
  { state: 'not_sent', reply: null },
];

const madeAt = words('receipt.mailSince', { date: 'Thursday, 8 May 2025 at 10:26 UTC' });

/** The page's section about the mail. */
function mailOf(html: string): string {
  return /<section class="mail".*?<\/section>/s.exec(html)?.[0] ?? '';
}

async function lookAt({ app, receiptPath, headers }: Mailed): Promise<string> {
  return mailOf((await visit(app, receiptPath, { headers })).html);
}

describe('the mail on the receipt', () => {
  for (const end of ends) {
    it(`that is ${end.state} says so, since when, what it means, and what the mail server said`, async () => {
      const html = await lookAt(await mailSecret({ says: end }));
      for (const text of [expected[end.state].label, expected[end.state].help, madeAt])
        expect(wordsOf(html)).toContain(text);
      const reply = /<blockquote dir="ltr"><samp>([^<]*)<\/samp><\/blockquote>/.exec(html)?.[1] ?? null;
      expect(reply).toBe(end.reply);
      expect(html).toContain('jo*****@e*****.org');
    });
  }

  it('that is under way says so, and that it was not sent once nobody can be handing it over any more', async () => {
    const mailed = await mailSecret({ says: 'nothing' });
    const html = await lookAt(mailed);
    for (const text of [expected.queued.label, expected.queued.help, madeAt])
      expect(wordsOf(html)).toContain(text);
    expect(html).not.toContain('<samp>');
    mailed.app.clock.advance(3_600);
    const later = await lookAt(mailed);
    for (const text of [expected.not_sent.label, expected.not_sent.help]) expect(later).toContain(text);
    await mailed.server.answer(taken);
  });

  it('gives no advice about a link that is dead, and still says how it stood', async () => {
    for (const end of ends) {
      const mailed = await mailSecret({ says: end });
      await postForm(mailed.app, `${mailed.receiptPath}/burn`, mailed.token, mailed.headers);
      const html = await lookAt(mailed);
      expect(html).toContain(expected[end.state].label);
      expect(html).not.toContain(expected[end.state].help);
      expect(html).not.toContain('<form');
    }
  });

  it('that waits for another try says so, and why in the reader’s language where the server gave no answer', async () => {
    const waiting = (reply: string | null) =>
      mailSecret({
        wrapService: (service) => ({
          ...service,
          async findReceipt(input, caller) {
            const found = await service.findReceipt(input, caller);
            if (found.outcome !== 'found') return found;
            return {
              ...found,
              receipt: { ...found.receipt, delivery: { state: 'queued', at: 1_746_700_000, reply } },
            };
          },
        }),
      });
    const asked = await lookAt(await waiting('451 4.7.1 Greylisted'));
    for (const text of [
      words('receipt.mailRetrying'),
      words('receipt.mailRetryingHelp'),
      '<samp>451 4.7.1 Greylisted</samp>',
    ])
      expect(asked).toContain(text);
    const lost = await waiting(mailTroubles.unreachable);
    const html = await lookAt(lost);
    for (const text of [
      words('receipt.mailRetrying'),
      words('receipt.mailRetryingHelp'),
      words('receipt.mailUnreachable'),
    ])
      expect(html).toContain(text);
    expect(html).not.toContain('<samp>');
    const headers = { ...lost.headers, 'accept-language': 'de' };
    const german = await lookAt({ ...lost, headers });
    expect(german).toContain(translate('de', 'receipt.mailUnreachable'));
    expect(german).not.toContain(mailTroubles.unreachable);
  });

  it('that was given up without an answer does not say that the server asked to wait', async () => {
    for (const [reply, told] of [
      [mailTroubles.unreachable, words('receipt.mailUnreachable')],
      [mailTroubles.unanswered, words('receipt.mailUnanswered')],
    ] as const) {
      const html = await lookAt(await mailSecret({ says: { state: 'given_up', reply } }));
      for (const text of [expected.given_up.label, told, words('receipt.mailUnsentHelp')])
        expect(html).toContain(text);
      expect(html).not.toMatch(saying('receipt.mailGivenUpHelp'));
      expect(html).not.toContain('<samp>');
    }
  });

  it('shows what the mail server said as text, whatever it is, and breaks it anywhere', async () => {
    const reply = `550 <img src=x onerror="alert(1)"> & ${'x'.repeat(250)}`;
    const html = await lookAt(await mailSecret({ says: { state: 'refused', reply } }));
    expect(html).toContain('<samp>550 &lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; xxx');
    expect(html).not.toContain('<img');
  });

  it('never shows the address, in no state and to nobody', async () => {
    for (const end of [...ends, 'nothing'] as const) {
      const mailed = await mailSecret({ says: end });
      const { html } = await visit(mailed.app, mailed.receiptPath);
      expect((await lookAt(mailed)) + html).not.toContain(recipient.split('@')[0] ?? '');
    }
  });

  it('self-test: an address in the receipt would be seen', async () => {
    const mailed = await mailSecret({
      wrapService: (service) => ({
        ...service,
        findReceipt: async (input, caller) => {
          const found = await service.findReceipt(input, caller);
          return found.outcome === 'found' ? { ...found, receipt: { ...found.receipt, recipient } } : found;
        },
      }),
    });
    expect(await lookAt(mailed)).toContain('joanna');
  });

  it('unfolds the form where a mail did not get through, and only there', async () => {
    for (const end of ends) {
      const isOpen = (await lookAt(await mailSecret({ says: end }))).includes(
        '<details class="chip" open="">',
      );
      expect([end.state, isOpen]).toEqual([end.state, end.state !== 'accepted']);
    }
  });
});

describe('who is offered an address', () => {
  const field = 'id="recipient"';

  it('is the account that made the secret, mailed before or not', async () => {
    expect(await lookAt(await mailSecret())).toContain(field);
    const unmailed = await lookAt(await mailSecret({ to: null }));
    expect(unmailed).toContain(field);
    expect(unmailed).toContain(words('receipt.sendFirst'));
  });

  it('is any account for a secret that was made without one', async () => {
    const { app, headers, token, receiptPath: own } = await mailSecret({ to: null });
    const { receiptPath } = await share(app, { secret: 'x' });
    expect(own).not.toBe(receiptPath);
    expect(mailOf((await visit(app, receiptPath, { headers })).html)).toContain(field);
    const made = await postForm(app, `${receiptPath}/send-again`, { ...token, recipient }, headers);
    expect(made.status).toBe(303);
  });

  it('is no one without an account', async () => {
    const { app } = await mailSecret({ to: null });
    const { receiptPath } = await share(app, { secret: 'x' });
    const html = mailOf((await visit(app, receiptPath)).html);
    expect(html).not.toContain('<form');
    expect(html).not.toContain('href="/log-in"');
  });

  it('is no one without an account, also where an account has mailed the link', async () => {
    const { app, headers, token } = await mailSecret({ to: null });
    const anonymous = await share(app, { secret: 'x' });
    await postForm(app, `${anonymous.receiptPath}/send-again`, { ...token, recipient }, headers);
    await app.service.settled();
    const html = mailOf((await visit(app, anonymous.receiptPath)).html);
    expect(html).toContain('jo*****@e*****.org');
    expect(html).not.toContain('<form');
  });
});

describe('the state that a page asks for', () => {
  const stateAt = async ({ app, receiptPath, headers }: Mailed): Promise<unknown> =>
    (await app.fetch(`${receiptPath}/state`, { headers })).json();

  it('gives the delivery’s state and its time, and nothing else of the mail', async () => {
    const mailed = await mailSecret({ says: 'nothing' });
    const at = mailed.app.clock.now();
    expect(await stateAt(mailed)).toEqual({ state: 'new', delivery: { state: 'queued', at } });
    mailed.app.clock.advance(5);
    await mailed.server.answer({ state: 'refused', reply: '550 no' });
    await mailed.app.service.settled();
    expect(await stateAt(mailed)).toEqual({ state: 'new', delivery: { state: 'refused', at: at + 5 } });
    expect(await lookAt(mailed)).toContain(`data-seen="refused ${at + 5}"`);
  });

  it('changes when the same end comes a second time', async () => {
    const mailed = await mailSecret();
    const before = await stateAt(mailed);
    mailed.app.clock.advance(60);
    await press(mailed);
    await mailed.app.service.settled();
    expect(await stateAt(mailed)).not.toEqual(before);
  });

  it('has no mail where nobody was mailed', async () => {
    expect(await stateAt(await mailSecret({ to: null }))).toEqual({ state: 'new', delivery: null });
    expect(openMailServer().mails).toEqual([]);
  });
});
