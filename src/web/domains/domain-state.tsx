/**
 * How a share domain stands, in a word and in a sentence.
 *
 * Owns: the words of its states and of what a check found. Invariant: whoever reads them knows what to do next.
 */
import type { FC } from 'hono/jsx';
import type { DomainFinding, DomainState } from '../../core/share-domains/share-domains.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { Badge, type BadgeKind, type IconName } from '../kit/parts.tsx';
import type { Words } from '../kit/words.ts';

interface StateWords {
  readonly kind: BadgeKind;
  readonly icon: IconName;
  readonly word: MessageKey;
  readonly lead: MessageKey;
}

export const stateWords: Readonly<Record<DomainState, StateWords>> = {
  unverified: { kind: 'waiting', icon: 'clock', word: 'domain.unverified', lead: 'domain.unverifiedLead' },
  pending: { kind: 'waiting', icon: 'clock', word: 'domain.pending', lead: 'domain.pendingLead' },
  verified: { kind: 'good', icon: 'check', word: 'domain.verified', lead: 'domain.verifiedLead' },
  lost: { kind: 'bad', icon: 'alert', word: 'domain.lost', lead: 'domain.lostLead' },
};

export const findingTexts: Readonly<Record<DomainFinding, MessageKey>> = {
  txt_missing: 'domain.txtMissing',
  txt_differs: 'domain.txtDiffers',
  not_pointing: 'domain.notPointing',
  dns_failed: 'domain.dnsFailed',
};

export const StateBadge: FC<{ words: Words; state: DomainState }> = ({ words, state }) => {
  const { kind, icon, word } = stateWords[state];
  return (
    <Badge kind={kind} icon={icon}>
      {words.say(word)}
    </Badge>
  );
};
