/**
 * The end of a share domain.
 *
 * Owns: the page that asks. Invariant: what happens to the links that were given away is said before it does.
 */
import type { FC } from 'hono/jsx';
import type { DomainView } from '../../core/share-domains/service.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';

export const RemoveDomainPage: FC<{ frame: Frame; domain: DomainView }> = ({ frame, domain }) => {
  const { say } = frame.words;
  const { name, unicodeName } = domain;
  return (
    <Page frame={frame} title={say('domain.removeTitle')}>
      <h1>{say('domain.removeTitle')}</h1>
      <p class="lead">{say('domain.removeLead', { domain: `\u2068${unicodeName}\u2069` })}</p>
      <p>{say('domain.removeLinks')}</p>
      <PostForm frame={frame} action={frame.href('removeDomain', name)}>
        <div class="row">
          <button class="alarm" type="submit">
            {say('domain.removeSubmit')}
          </button>
          <a class="button quiet" href={frame.href('domain', name)}>
            {say('domain.removeKeep')}
          </a>
        </div>
      </PostForm>
    </Page>
  );
};
