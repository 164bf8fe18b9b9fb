/**
 * What this service promises and what it does not, in plain words.
 *
 * Owns: which promises people are told. Invariant: each is one of those that the tests prove (SECURITY.md names them), and
 * what is not promised stands beside them on the same page.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { Icon, type IconName } from '../kit/parts.tsx';

interface Clause {
  readonly icon: IconName;
  readonly title: MessageKey;
  readonly text: MessageKey;
}

const promises: readonly Clause[] = [
  { icon: 'account', title: 'security.oneReader.title', text: 'security.oneReader' },
  { icon: 'lock', title: 'security.noDoubt.title', text: 'security.noDoubt' },
  { icon: 'shield', title: 'security.noMistake.title', text: 'security.noMistake' },
  { icon: 'eye', title: 'security.looking.title', text: 'security.looking' },
  { icon: 'check', title: 'security.stored.title', text: 'security.stored' },
  { icon: 'key', title: 'security.atRest.title', text: 'security.atRest' },
  { icon: 'flame', title: 'security.gone.title', text: 'security.gone' },
  { icon: 'clock', title: 'security.guesses.title', text: 'security.guesses' },
  { icon: 'eye-off', title: 'security.logs.title', text: 'security.logs' },
  { icon: 'globe', title: 'security.pages.title', text: 'security.pages' },
];

const limits: readonly Clause[] = [
  { icon: 'clock', title: 'security.faster.title', text: 'security.faster' },
  { icon: 'mail', title: 'security.scanners.title', text: 'security.scanners' },
  { icon: 'copy', title: 'security.copies.title', text: 'security.copies' },
  { icon: 'eye', title: 'security.memory.title', text: 'security.memory' },
  { icon: 'mail', title: 'security.mail.title', text: 'security.mail' },
  { icon: 'refresh', title: 'security.backups.title', text: 'security.backups' },
];

export const SecurityPage: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('security.title')}>
      <div class="tale">
        <h1>{say('security.title')}</h1>
        <p class="lead">{say('security.lead')}</p>
        <h2 class="large">{say('security.promises')}</h2>
        <Clauses frame={frame} clauses={promises} kind="promises" />
        <h2 class="large">{say('security.limits')}</h2>
        <Clauses frame={frame} clauses={limits} kind="limits" />
        <div class="pair">
          <section>
            <h2>{say('security.how')}</h2>
            <p>{say('security.howText')}</p>
          </section>
          <section>
            <h2>{say('security.report')}</h2>
            <p>{say('security.reportText')}</p>
            <p>
              <a href={frame.href('about')}>{say('security.toAbout')}</a>
            </p>
          </section>
        </div>
      </div>
    </Page>
  );
};

const Clauses: FC<{ frame: Frame; clauses: readonly Clause[]; kind: string }> = ({
  frame,
  clauses,
  kind,
}) => (
  <ul class={`clauses ${kind}`}>
    {clauses.map(({ icon, title, text }) => (
      <li>
        <Icon name={icon} />
        <h3>{frame.words.say(title)}</h3>
        <p>{frame.words.say(text)}</p>
      </li>
    ))}
  </ul>
);
