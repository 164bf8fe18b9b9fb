/** How the service works, for newcomers, and what it does and does not promise. Tests prove every promise here (SECURITY.md). */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { Mayfly } from '../brand/default-logo.tsx';
import type { Messages } from '../kit/language.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, staticPage } from '../kit/page.ts';
import { Icon, type IconName } from '../kit/parts.tsx';

export function createAboutPages(): PageRoute[] {
  return [
    staticPage('about', ({ frame }) => pageReply(200, <AboutPage frame={frame} />)),
    staticPage('security', ({ frame }) => pageReply(200, <SecurityPage frame={frame} />)),
    { name: 'misdirected', needsNoSession: true, get: { limit: 'none', handle: sayMisdirected } },
  ];
}

function sayMisdirected({ frame }: PageRequest): PageReply {
  const { messages, settings } = frame;
  const address = messages.code(settings.baseUrl);
  const page = (
    <MessagePage
      // No language choice: its link would also lead to the wrong host name.
      frame={{ ...frame, here: null }}
      title={messages.say('error.misdirected.title')}
      lead={messages.say('error.misdirected', { address })}
      also={[messages.say('error.misdirected.operator')]}
      ways={[[settings.baseUrl, address]]}
    />
  );
  return pageReply(421, page);
}

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
  ['about.sealedQuestion', 'about.sealedAnswer'],
  ['about.accountQuestion', 'about.accountAnswer'],
];

const AboutPage: FC<{ frame: Frame }> = ({ frame }) => {
  const { messages, href, brand } = frame;
  return (
    <Page frame={frame} title={messages.say('about.title')} styles={['about']}>
      <div class="tale">
        <h1>{messages.say('about.title')}</h1>
        <p class="lead">{messages.say('about.lead', { name: brand.name })}</p>
        <div class="sheet">
          <Picture messages={messages} />
          <ol class="steps">
            {steps.map(([title, text]) => (
              <li>
                <h2>{messages.say(title)}</h2>
                <p>{messages.say(text)}</p>
              </li>
            ))}
          </ol>
        </div>
        <div class="row">
          <a class="button" href={href('home')}>
            {messages.say('about.toShare')}
            <Icon name="arrow" />
          </a>
          <a class="button quiet" href={href('security')}>
            <Icon name="shield" />
            {messages.say('about.toSecurity')}
          </a>
        </div>
        <h2 class="large">{messages.say('about.questions')}</h2>
        <div class="questions">
          {questions.map(([question, answer]) => (
            <section>
              <h3>{messages.say(question)}</h3>
              <p>{messages.say(answer)}</p>
            </section>
          ))}
        </div>
      </div>
    </Page>
  );
};

const sceneWidth = 180;
const arrow = 'M146 96h58m-8-7 8 7-8 7';

const scenes = (): readonly FC[] => [Written, Sealed, OnItsWay, Opened];

/**
 * Four drawings without words, which suit every language. Right-to-left pages mirror them, except for their numbers. Where space is tight,
 * the style sheet arranges them two by two.
 */
const Picture: FC<{ messages: Messages }> = ({ messages }) => (
  <div class="picture" role="img" aria-labelledby="picture-title picture-text">
    {scenes().map((Scene, at) => (
      <svg viewBox={`0 0 ${sceneWidth} 216`} aria-hidden="true">
        {at === 0 ? <Caption messages={messages} /> : null}
        <g transform={messages.direction === 'rtl' ? `matrix(-1 0 0 1 ${sceneWidth} 0)` : undefined}>
          <Scene />
        </g>
        <circle class="ground" cx="90" cy="192" r="17" />
        <text x="90" y="198.5" text-anchor="middle">
          {messages.number(at + 1)}
        </text>
      </svg>
    ))}
  </div>
);

const Caption: FC<{ messages: Messages }> = ({ messages }) => (
  <>
    <title id="picture-title">{messages.say('about.picture')}</title>
    <desc id="picture-text">{messages.say('about.pictureText')}</desc>
  </>
);

const Written: FC = () => (
  <>
    <path class="way" d={arrow} />
    <path class="sheet-of" d="M46 36h60l20 20v100H46Z" />
    <path d="M106 36v20h20" />
    <path class="soft-line" d="M60 76h46M60 92h52M60 108h36" />
    <path class="strong" d="M60 130h3m9 0h3m9 0h3m9 0h3m9 0h3" />
  </>
);

const Sealed: FC = () => (
  <>
    <path class="way" d="M158 96h40m-8-7 8 7-8 7" />
    <path class="sheet-of" d="M36 60h108v76H36Z" />
    <path d="m36 60 54 42 54-42M36 136l40-45m68 45-40-45" />
    <circle class="seal" cx="90" cy="104" r="17" />
    <path class="on-seal" d="M82 103h16v10H82Zm3 0v-4a5 5 0 0 1 10 0v4" />
  </>
);

const OnItsWay: FC = () => (
  <>
    <path class="way" d="M148 96h50m-8-7 8 7-8 7" />
    <path class="soft-line" stroke-dasharray="2 8" d="M8 116c8 2 22 0 36-14" />
    <Mayfly transform="translate(44 58) scale(3.6)" />
  </>
);

const Opened: FC = () => (
  <>
    <path class="sheet-of" d="M54 120V30h72v90" />
    <path class="soft-line" d="M66 48h48M66 64h36" />
    <path class="sheet-of" d="m36 84 54 40 54-40v72H36Z" />
    <path d="m36 156 40-42m68 42-40-42" />
    <path class="fade" d="M146 62h.1m8-16h.1M162 76h.1m-1-46h.1M140 26h.1m6-14h.1" />
  </>
);

interface Clause {
  /** Present if links lead to this clause. */
  readonly id?: 'once' | 'looking' | 'at-rest' | 'end-to-end' | 'private';
  readonly icon: IconName;
  readonly title: MessageKey;
  readonly text: MessageKey;
}

const promises: readonly Clause[] = [
  { id: 'once', icon: 'user', title: 'security.oneReader.title', text: 'security.oneReader' },
  { icon: 'lock', title: 'security.noDoubt.title', text: 'security.noDoubt' },
  { icon: 'shield', title: 'security.noMistake.title', text: 'security.noMistake' },
  { id: 'looking', icon: 'eye', title: 'security.looking.title', text: 'security.looking' },
  { icon: 'check', title: 'security.stored.title', text: 'security.stored' },
  { id: 'at-rest', icon: 'key', title: 'security.atRest.title', text: 'security.atRest' },
  { id: 'end-to-end', icon: 'link', title: 'security.sealed.title', text: 'security.sealed' },
  { icon: 'flame', title: 'security.gone.title', text: 'security.gone' },
  { icon: 'clock', title: 'security.guesses.title', text: 'security.guesses' },
  { icon: 'eye-off', title: 'security.logs.title', text: 'security.logs' },
  { id: 'private', icon: 'globe', title: 'security.pages.title', text: 'security.pages' },
];

const limits: readonly Clause[] = [
  { icon: 'clock', title: 'security.faster.title', text: 'security.faster' },
  { icon: 'mail', title: 'security.scanners.title', text: 'security.scanners' },
  { icon: 'copy', title: 'security.copies.title', text: 'security.copies' },
  { icon: 'eye', title: 'security.memory.title', text: 'security.memory' },
  { icon: 'globe', title: 'security.scripts.title', text: 'security.scripts' },
  { icon: 'mail', title: 'security.mail.title', text: 'security.mail' },
  { icon: 'message', title: 'security.asking.title', text: 'security.asking' },
  { icon: 'refresh', title: 'security.backups.title', text: 'security.backups' },
];

const SecurityPage: FC<{ frame: Frame }> = ({ frame }) => (
  <Page frame={frame} title={frame.say('security.title')} styles={['about']}>
    <div class="tale">
      <h1>{frame.say('security.title')}</h1>
      <p class="lead">{frame.say('security.lead')}</p>
      <h2 class="large">{frame.say('security.promises')}</h2>
      <Clauses frame={frame} clauses={promises} kind="promises" />
      <h2 class="large">{frame.say('security.limits')}</h2>
      <Clauses frame={frame} clauses={limits} kind="limits" />
      <div class="pair">
        <section>
          <h2>{frame.say('security.how')}</h2>
          <p>{frame.say('security.howText')}</p>
        </section>
        <section>
          <h2>{frame.say('security.report')}</h2>
          <p>{frame.say('security.reportText')}</p>
          <p>
            <a href={frame.href('about')}>{frame.say('security.toAbout')}</a>
          </p>
        </section>
      </div>
    </div>
  </Page>
);

const Clauses: FC<{ frame: Frame; clauses: readonly Clause[]; kind: string }> = ({
  frame,
  clauses,
  kind,
}) => (
  <ul class={`clauses ${kind}`}>
    {clauses.map(({ id, icon, title, text }) => (
      <li id={id}>
        <Icon name={icon} />
        <h3>{frame.say(title)}</h3>
        <p>{frame.say(text)}</p>
      </li>
    ))}
  </ul>
);
