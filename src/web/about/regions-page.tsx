/**
 * The regions: separate installations of the one service.
 *
 * Owns: their list and what it means that they are separate. Invariant: a region is named by its label and its address,
 * because a label is the operator's and no name of a country.
 */
import type { FC } from 'hono/jsx';
import type { Region, Regions } from '../../core/regions.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { Badge } from '../kit/parts.tsx';

export const RegionsPage: FC<{ frame: Frame; regions: Regions }> = ({ frame, regions }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('regions.title')}>
      <h1>{say('regions.title')}</h1>
      <p class="lead">{say('regions.lead')}</p>
      <p>{say('regions.links')}</p>
      <ul class="regions">
        {regions.all.map((region) => (
          <li>
            <RegionLine frame={frame} region={region} isOwn={region.label === regions.own} />
          </li>
        ))}
      </ul>
    </Page>
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
        {frame.words.say('regions.own')}
      </Badge>
    ) : null}
  </>
);
