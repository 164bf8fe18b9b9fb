/** The receipt's form for changing a waiting secret's lifetime. The new one counts from now, up to the latest expiry allowed. */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Button, Chip } from '../kit/parts.tsx';
import { Lifetime } from './fields.tsx';
import { type LifetimeOffer, type TypedLifetime, usualWithin } from './typed.ts';

/**
 * Offers the usual lifetimes and the longest possible. Returns `null` if the lifetime cannot change. The preset is the lifetime nearest to
 * the time left, so that saving it unchanged makes little difference.
 * @param plan the caller's
 */
export function offerLater(
  { longestTtlSeconds: maxSeconds, secretTtlSeconds: leftSeconds }: ReceiptView,
  plan: Plan,
): LifetimeOffer | null {
  if (maxSeconds === null || leftSeconds === null) return null;
  // Shortly before the latest expiry, even the longest lifetime is shorter than the plan's minimum.
  const minSeconds = Math.min(plan.ttlMinSeconds, maxSeconds);
  const usual = usualWithin(minSeconds, maxSeconds - 1);
  const distance = (seconds: number) => Math.abs(seconds - leftSeconds);
  const nearest = usual.find((seconds) =>
    [...usual, maxSeconds].every((other) => distance(seconds) <= distance(other)),
  );
  return { minSeconds, maxSeconds, choices: [...usual, 'longest'], preset: nearest ?? 'longest' };
}

export interface RefusedLifetime {
  readonly typed: TypedLifetime;
  readonly message: string;
  readonly isAboutAmount: boolean;
}

interface ChangeLifetimeProps {
  readonly frame: Frame;
  readonly metadataKey: string;
  readonly offer: LifetimeOffer;
  readonly refused: RefusedLifetime | null;
}

export const ChangeLifetime: FC<ChangeLifetimeProps> = ({ frame, metadataKey, offer, refused }) => {
  const { messages, href } = frame;
  const typed = refused?.typed ?? { choice: offer.preset, amount: '', unit: 'hours' };
  const wrong = refused?.isAboutAmount === true ? refused.message : null;
  return (
    <Chip
      id="change-lifetime"
      name="change"
      icon="clock"
      title={messages.say('lifetime.change')}
      open={refused !== null}
    >
      {refused === null || refused.isAboutAmount ? null : (
        <p class="note alert" role="alert" tabindex={-1} autofocus>
          {refused.message}
        </p>
      )}
      <PostForm frame={frame} action={href('lifetime', metadataKey)} autocomplete="off">
        <Lifetime
          frame={frame}
          offer={offer}
          typed={typed}
          wrong={wrong}
          note={messages.say('lifetime.fromNow')}
        />
        <Button frame={frame} class="quiet" say="lifetime.save" icon="clock" />
      </PostForm>
    </Chip>
  );
};
