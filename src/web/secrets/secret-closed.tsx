/**
 * The pages on which a link does not open: nothing is there, or not now.
 *
 * Owns: their honest words. Invariant: unknown, opened, burned and expired are one page to a stranger (P17); none says
 * anything of a value.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page, sharesHere } from '../kit/layout.tsx';
import { Dated } from '../kit/parts.tsx';

const advice: readonly MessageKey[] = ['gone.askAgain', 'gone.someoneElse', 'gone.cutOff'];

/** Opened, burned, expired or never there. */
export const GonePage: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('gone.title')}>
      <h1>{say('gone.title')}</h1>
      <p class="lead">{say('gone.lead')}</p>
      <h2>{say('gone.next')}</h2>
      <ul class="points">
        {advice.map((key) => (
          <li>{say(key)}</li>
        ))}
      </ul>
      <p>{say('gone.seen')}</p>
      <ShareOwn frame={frame} />
    </Page>
  );
};

/** For whoever came by a link; not where the owner of a share domain keeps it to itself. */
export const ShareOwn: FC<{ frame: Frame }> = ({ frame }) =>
  sharesHere(frame) ? (
    <p>
      <a href={frame.href('home')}>{frame.words.say('gone.shareOwn')}</a>
    </p>
  ) : null;

export interface Delay {
  readonly title: string;
  readonly lead: string;
  /** When it is over; `null`: that is all said. */
  readonly until: number | null;
}

/** Not now, and the secret stays as it is; the way back is this link itself. */
export const DelayedPage: FC<{ frame: Frame; delay: Delay; secretKey: string }> = (props) => {
  const { frame, delay, secretKey } = props;
  return (
    <Page frame={frame} title={delay.title} scripts={['time']}>
      <h1>{delay.title}</h1>
      <p class="lead">{delay.lead}</p>
      {delay.until === null ? null : <NextTry frame={frame} at={delay.until} />}
      <p>
        <a href={frame.href('secret', secretKey)}>{frame.words.say('secret.back')}</a>
      </p>
    </Page>
  );
};

const NextTry: FC<{ frame: Frame; at: number }> = ({ frame: { words }, at }) => (
  <>
    <p>
      <Dated words={words} say="secret.exhaustedUntil" at={at} />
    </p>
    <p>{words.say('secret.exhaustedAdvice')}</p>
  </>
);
