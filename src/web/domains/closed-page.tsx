/**
 * The start of a share domain whose owner shares there alone.
 *
 * Owns: its words. Invariant: it names the domain as it is registered, and never as the request spells it (P20).
 */
import { domainToUnicode } from 'node:url';
import type { FC } from 'hono/jsx';
import type { DomainFace } from '../../core/share-domains/service.ts';
import { type Frame, Page } from '../kit/layout.tsx';

export const DomainClosedPage: FC<{ frame: Frame; domain: DomainFace }> = ({ frame, domain }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('domainClosed.title')}>
      <h1>{say('domainClosed.title')}</h1>
      {/* Isolated, so that the name keeps its order in a text that runs from right to left. */}
      <p class="lead">
        {say('domainClosed.lead', { domain: `\u2068${domainToUnicode(domain.name)}\u2069` })}
      </p>
      <h2>{say('domainClosed.next')}</h2>
      <ul class="points">
        <li>{say('domainClosed.open')}</li>
        <li>{say('domainClosed.ask')}</li>
      </ul>
    </Page>
  );
};
