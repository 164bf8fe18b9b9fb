/**
 * How it works, in four drawings with no words but their title and description, so they serve every language. From
 * right to left they are mirrored with the text, except for their numbers. The style sheet puts two above two where
 * space is short.
 */
import type { FC } from 'hono/jsx';
import type { Words } from '../kit/words.ts';

const sceneWidth = 180;
const arrow = 'M146 96h58m-8-7 8 7-8 7';

const scenes = (): readonly FC[] => [Written, Sealed, OnItsWay, Opened];

export const Picture: FC<{ words: Words }> = ({ words }) => (
  <div class="picture" role="img" aria-labelledby="picture-title picture-text">
    {scenes().map((Scene, at) => (
      <svg viewBox={`0 0 ${sceneWidth} 216`} aria-hidden="true">
        {at === 0 ? <Caption words={words} /> : null}
        <g transform={words.direction === 'rtl' ? `matrix(-1 0 0 1 ${sceneWidth} 0)` : undefined}>
          <Scene />
        </g>
        <circle class="ground" cx="90" cy="192" r="17" />
        <text x="90" y="198.5" text-anchor="middle">
          {words.number(at + 1)}
        </text>
      </svg>
    ))}
  </div>
);

const Caption: FC<{ words: Words }> = ({ words }) => (
  <>
    <title id="picture-title">{words.say('about.picture')}</title>
    <desc id="picture-text">{words.say('about.pictureText')}</desc>
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

/** The logo, flying. */
const OnItsWay: FC = () => (
  <>
    <path class="way" d="M148 96h50m-8-7 8 7-8 7" />
    <path class="soft-line" stroke-dasharray="2 8" d="M30 140c16 12 40 14 58 6" />
    <path
      class="wing"
      d="M90 142V72m0 18C82 68 68 59 52 59c1 18 14 31 38 31Zm0 0c8-22 22-31 38-31-1 18-14 31-38 31Zm0 22c-6-11-15-15-26-14 2 11 11 18 26 14Zm0 0c6-11 15-15 26-14-2 11-11 18-26 14Z"
    />
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
