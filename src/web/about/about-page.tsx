/**
 * How it works, for people who have read nothing.
 *
 * Owns: the order of that page. Invariant: it says no more than the service keeps.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';
import { Picture } from './picture.tsx';

type Titled = readonly [title: MessageKey, text: MessageKey];

const steps: readonly Titled[] = [
  ['about.write.title', 'about.write'],
  ['about.seal.title', 'about.seal'],
  ['about.send.title', 'about.send'],
  ['about.open.title', 'about.open'],
];

const questions: readonly Titled[] = [
  ['about.passphraseQuestion', 'about.passphraseAnswer'],
  ['about.firstQuestion', 'about.firstAnswer'],
  ['about.unreadQuestion', 'about.unreadAnswer'],
  ['about.operatorQuestion', 'about.operatorAnswer'],
  ['about.accountQuestion', 'about.accountAnswer'],
];

export const AboutPage: FC<{ frame: Frame }> = ({ frame }) => {
  const { words, href, brand } = frame;
  return (
    <Page frame={frame} title={words.say('about.title')}>
      <div class="tale">
        <h1>{words.say('about.title')}</h1>
        <p class="lead">{words.say('about.lead', { name: brand.name })}</p>
        <div class="sheet">
          <Picture words={words} />
          <ol class="steps">
            {steps.map(([title, text]) => (
              <li>
                <h2>{words.say(title)}</h2>
                <p>{words.say(text)}</p>
              </li>
            ))}
          </ol>
        </div>
        <div class="row">
          <a class="button" href={href('home')}>
            {words.say('about.toShare')}
            <Icon name="arrow" />
          </a>
          <a class="button quiet" href={href('security')}>
            <Icon name="shield" />
            {words.say('about.toSecurity')}
          </a>
        </div>
        <h2 class="large">{words.say('about.questions')}</h2>
        <div class="questions">
          {questions.map(([question, answer]) => (
            <section>
              <h3>{words.say(question)}</h3>
              <p>{words.say(answer)}</p>
            </section>
          ))}
        </div>
      </div>
    </Page>
  );
};
