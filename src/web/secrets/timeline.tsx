/**
 * What happened to a secret, in the order in which it happened.
 *
 * Owns: the list.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { Frame } from '../kit/layout.tsx';
import { Moment } from '../kit/parts.tsx';

interface TimelineProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
}

export const Timeline: FC<TimelineProps> = ({ frame, receipt }) => {
  const { words } = frame;
  return (
    <section class="known">
      <h2>{words.say('receipt.timeline')}</h2>
      <ol class="timeline">
        {happened(receipt).map(([what, at]) => (
          <li>
            <strong>{words.say(what)}</strong> <Moment words={words} at={at} />
          </li>
        ))}
      </ol>
    </section>
  );
};

function happened(receipt: ReceiptView): [MessageKey, number][] {
  const { createdAt, viewedAt, receivedAt, burnedAt, ttlSeconds, state } = receipt;
  const events: [MessageKey, number | null][] = [
    ['receipt.created', createdAt],
    ['receipt.viewed', viewedAt],
    ['receipt.received', receivedAt],
    ['receipt.burned', burnedAt],
    ['receipt.expired', state === 'expired' ? createdAt + ttlSeconds : null],
  ];
  return events.filter((event): event is [MessageKey, number] => event[1] !== null);
}
