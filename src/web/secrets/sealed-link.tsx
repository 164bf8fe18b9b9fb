/**
 * The link of an end-to-end secret, of which the server knows the half that opens nothing. The script (`client/sealed-link.ts`)
 * adds the other half, which the share form has handed to this page right after the creation (`client/handover.ts`).
 */
import type { FC } from 'hono/jsx';
import { LinkActions, type LinkActionsProps } from './link-actions.tsx';

/** `link`: without its fragment; `null` unless it was just created. The markup is there either way, for a reload. */
export const SealedLink: FC<LinkActionsProps> = (props) => {
  const { frame, link } = props;
  const { say } = frame.words;
  return (
    <>
      <div id="whole-link" hidden data-link={link ?? undefined}>
        <LinkActions {...props} link={null} />
      </div>
      <div id="link-gone">
        <h2>{say('receipt.linkGoneTitle')}</h2>
        <p>{say('receipt.linkGone')}</p>
      </div>
    </>
  );
};
