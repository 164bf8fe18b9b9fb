/** Status and regions. The status page shows version, region, store availability and durability, and nothing else about the machine. */
import type { FC } from 'hono/jsx';
import type { Region } from '../../core/keys.ts';
import type { Clock } from '../../core/time.ts';
import type { StoreRisk } from '../../http/health.ts';
import { RequestProblem } from '../../http/problem.ts';
import type { Frame } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, staticPage } from '../kit/page.ts';
import { Badge, Moment } from '../kit/parts.tsx';

export interface StatusDeps {
  readonly clock: Clock;
  readonly version: string;
  readonly isReady: () => boolean | Promise<boolean>;
  /** Risks of the store that people should know about. */
  readonly storeRisks?: readonly StoreRisk[];
}

export function createStatusPages(deps: StatusDeps): PageRoute[] {
  return [
    staticPage('regions', showRegions),
    {
      name: 'status',
      needsNoSession: true,
      get: { limit: 'none', handle: (request) => showStatus(request, deps) },
    },
  ];
}

/** Shows addresses as well as labels, because operators choose the labels, which need not be countries. */
const RegionsPage: FC<{ frame: Frame }> = ({ frame }) => {
  const { region: own, regions } = frame.settings;
  return (
    <MessagePage
      frame={frame}
      day={null}
      styles={['about']}
      title={frame.say('regions.title')}
      lead={frame.say('regions.lead')}
      also={[frame.say('regions.links')]}
    >
      <ul class="plain regions">
        {regions.map((region) => (
          <li>
            <RegionLine frame={frame} region={region} isOwn={region.label === own} />
          </li>
        ))}
      </ul>
    </MessagePage>
  );
};

const RegionLine: FC<{ frame: Frame; region: Region; isOwn: boolean }> = ({ frame, region, isOwn }) => (
  <>
    <strong>{region.label.toUpperCase()}</strong>
    <a href={`${region.baseUrl}/`} dir="ltr">
      {new URL(region.baseUrl).host}
    </a>
    {isOwn ? (
      <Badge kind="good" icon="check">
        {frame.say('regions.own')}
      </Badge>
    ) : null}
  </>
);

interface StatusProps {
  readonly frame: Frame;
  readonly isReady: boolean;
  readonly version: string;
  readonly checkedAt: number;
  readonly risks: readonly StoreRisk[];
}

const StatusPage: FC<StatusProps> = ({ frame, isReady, version, checkedAt, risks }) => (
  <MessagePage
    frame={frame}
    day={isReady ? 'opened' : 'burned'}
    title={frame.say(isReady ? 'status.works' : 'status.fails')}
    lead={frame.say(isReady ? 'status.worksLead' : 'status.failsLead')}
    link={[frame.href('status'), frame.say('status.again')]}
    scripts={['time']}
    styles={['about']}
  >
    <div class="sheet">
      <dl>
        <dt>{frame.say('status.store')}</dt>
        <dd>
          <Badge kind={isReady ? 'good' : 'bad'} icon={isReady ? 'check' : 'x'}>
            {frame.say(isReady ? 'status.storeWorks' : 'status.storeFails')}
          </Badge>
          {risks.includes('single') ? <Badge kind="plain">{frame.say('status.storeSingle')}</Badge> : null}
          {risks.includes('unsafe') ? (
            <Badge kind="bad" icon="x">
              {frame.say('status.storeUnsafe')}
            </Badge>
          ) : null}
        </dd>
        {frame.settings.region === null ? null : (
          <>
            <dt>{frame.say('status.region')}</dt>
            <dd>{frame.settings.region.toUpperCase()}</dd>
          </>
        )}
        <dt>{frame.say('status.version')}</dt>
        <dd>{version}</dd>
        <dt>{frame.say('status.checked')}</dt>
        <dd>
          <Moment messages={frame.messages} at={checkedAt} />
        </dd>
      </dl>
    </div>
  </MessagePage>
);

function showRegions({ frame }: PageRequest): PageReply {
  if (frame.settings.region === null) throw new RequestProblem({ problem: 'not_found' });
  return pageReply(200, <RegionsPage frame={frame} />);
}

async function showStatus(
  { frame }: PageRequest,
  { clock, version, isReady, storeRisks: risks = [] }: StatusDeps,
): Promise<PageReply> {
  const works = await Promise.try(isReady).catch(() => false);
  const facts = { isReady: works, version, checkedAt: clock(), risks };
  const page = <StatusPage frame={frame} {...facts} />;
  return pageReply(works ? 200 : 503, page);
}
