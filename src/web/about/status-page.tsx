/**
 * Whether the service works, for people.
 *
 * Owns: the words of both answers. Invariant: it tells the version, the region and whether the store answers, and nothing else
 * about the machine.
 */
import type { FC } from 'hono/jsx';
import { type Frame, Page } from '../kit/layout.tsx';
import { Badge, Moment } from '../kit/parts.tsx';

export interface StatusProps {
  readonly frame: Frame;
  readonly isReady: boolean;
  readonly version: string;
  readonly checkedAt: number;
}

export const StatusPage: FC<StatusProps> = ({ frame, isReady, version, checkedAt }) => {
  const { words, href } = frame;
  const { say } = words;
  const title = say(isReady ? 'status.works' : 'status.fails');
  return (
    <Page frame={frame} title={say('status.title')} scripts={['time']}>
      <h1>{title}</h1>
      <p class="lead">{say(isReady ? 'status.worksLead' : 'status.failsLead')}</p>
      <div class="sheet">
        <dl class="facts">
          <dt>{say('status.store')}</dt>
          <dd>
            {isReady ? (
              <Badge kind="good" icon="check">
                {say('status.storeWorks')}
              </Badge>
            ) : (
              <Badge kind="bad" icon="x">
                {say('status.storeFails')}
              </Badge>
            )}
          </dd>
          {frame.regions === null ? null : (
            <>
              <dt>{say('status.region')}</dt>
              <dd>{frame.regions.own.toUpperCase()}</dd>
            </>
          )}
          <dt>{say('status.version')}</dt>
          <dd>{version}</dd>
          <dt>{say('status.checked')}</dt>
          <dd>
            <Moment words={words} at={checkedAt} />
          </dd>
        </dl>
      </div>
      <p>
        <a class="button quiet" href={href('status')}>
          {say('status.again')}
        </a>
      </p>
    </Page>
  );
};
