/**
 * Which mails an account wants about its secrets, to its owner.
 *
 * Owns: the form.
 */

import type { FC } from 'hono/jsx';
import type { NoticeKind } from '../../core/accounts/accounts.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { NoticeBoxes } from '../kit/notices.tsx';

export const NoticesForm: FC<{ frame: Frame; ticked: readonly NoticeKind[] }> = ({ frame, ticked }) => {
  const { say } = frame.words;
  return (
    <PostForm frame={frame} action={frame.href('notices')} class="sheet">
      <h2>{say('notices.title')}</h2>
      <p>{say('notices.lead')}</p>
      <NoticeBoxes frame={frame} ticked={ticked} wrong={null} />
      <button class="quiet" type="submit">
        {say('notices.submit')}
      </button>
    </PostForm>
  );
};
