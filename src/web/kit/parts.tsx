/** The small parts of pages: icons, badges, copy buttons and times. */
import type { FC, JSX, PropsWithChildren } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { hasWeekday, type MessageParams } from '../../locale/translate.ts';
import type { Messages } from './language.ts';

/** An outline. */
export const circle = (x: number, y: number, radius: number) =>
  `M${x} ${Math.round((y - radius) * 100) / 100}a${radius} ${radius} 0 1 0 .1 0Z`;

/** Drawn on a grid of 24 units. The style sheet makes the lines 1.75 units wide. */
const drawings = {
  alert: `M12 3.5 2.5 20h19ZM12 10v4.5M12 17.2v.1`,
  arrow: 'M4 12h16m-6-6 6 6-6 6',
  check: 'm4.5 12.5 5 5 10-11',
  clock: `${circle(12, 12, 8.5)}M12 7v5.3l3.5 2`,
  copy: 'M8.5 8.5v-5h12v12h-5M3.5 8.5h12v12h-12Z',
  dice: 'M4.5 4.5h15v15h-15ZM8.5 8.5h.1m6.9 0h.1M12 12h.1m-3.6 3.5h.1m6.9 0h.1',
  download: 'M12 3.5v11.5m-4.5-4.5 4.5 4.5 4.5-4.5M4 20.5h16',
  eye: `M2.5 12q9.5-12 19 0-9.5 12-19 0Z${circle(12, 12, 2.75)}`,
  'eye-off':
    'M4 4l16 16M9.5 6.3c.8-.2 1.6-.3 2.5-.3 4 0 7.2 2 9.5 6-.8 1.4-1.7 2.5-2.7 3.4M6.3 8c-1.5 1-2.7 2.3-3.8 4 2.3 4 5.5 6 9.5 6 1.5 0 2.9-.3 4.2-.9',
  file: 'M13.5 3H6v18h12V7.5ZM13.5 3v4.5H18',
  flame:
    'M12 21c4 0 6.5-2.7 6.5-6.3 0-3-1.5-4.7-2.7-6.2-.3 1.5-1 2.5-2.1 3C14.2 8 13 5 10.5 3c.2 3-1 4.5-2.5 6.3-1.3 1.5-2.5 3-2.5 5.4C5.5 18.3 8 21 12 21Z',
  globe: `${circle(12, 12, 8.5)}M3.5 12h17M12 3.5q-7 8.5 0 17 7-8.5 0-17Z`,
  info: `${circle(12, 12, 8.5)}M12 11v5.5M12 7.6v.1`,
  key: `${circle(8, 15.5, 4)}M10.9 12.6 19.5 4l1 1M15.5 8l3 3`,
  link: 'M10 14.5c-1.5-1.5-1.5-3.8 0-5.3l3.5-3.5c1.5-1.5 3.9-1.5 5.3 0s1.5 3.9 0 5.3l-1.3 1.3M14 9.5c1.5 1.5 1.5 3.8 0 5.3l-3.5 3.5c-1.5 1.5-3.9 1.5-5.3 0s-1.5-3.9 0-5.3l1.3-1.3',
  list: 'M4 6.5h.1M8.5 6.5H20M4 12h.1M8.5 12H20M4 17.5h.1M8.5 17.5H20',
  lock: 'M5 10.5h14v10H5ZM8 10.5V7.5a4 4 0 0 1 8 0v3M12 14.5v2.5',
  mail: 'M3 5.5h18v13H3ZM3.5 6.5l8.5 7 8.5-7',
  message: 'M4 4.5h16v12h-9l-4.5 4v-4H4Z',
  moon: 'M19.5 14.5A8 8 0 1 1 9.5 4.5a6.5 6.5 0 0 0 10 10Z',
  plus: 'M12 4.5v15M4.5 12h15',
  qr: 'M4 4h6v6H4ZM14 4h6v6h-6ZM4 14h6v6H4ZM14 14h2.5v2.5M20 14v.1M14 20v-.1M20 17.5V20h-2.5',
  refresh: 'M19.5 5v5h-5M4.5 19v-5h5M19 10A7.5 7.5 0 0 0 5.5 8M5 14a7.5 7.5 0 0 0 13.5 2',
  search: `${circle(10.5, 10.5, 6)}M15 15l5.5 5.5`,
  share: `${circle(6, 12, 2.5)}${circle(17.5, 5.5, 2.5)}${circle(17.5, 18.5, 2.5)}M8.2 10.7l7.1-4M8.2 13.3l7.1 4`,
  shield: 'M12 3 4.5 6v5.5c0 4.5 3 7.6 7.5 9.5 4.5-1.9 7.5-5 7.5-9.5V6ZM8.5 12l2.5 2.5 4.5-5',
  trash: 'M4 6.5h16M9 6V3.5h6V6M6 6.5l1 14h10l1-14M10 10.5v6M14 10.5v6',
  undo: 'M8.5 4.5 4 9l4.5 4.5M4 9h10a5.5 5.5 0 0 1 0 11h-3',
  user: `${circle(12, 8, 4)}M4.5 20.5c.6-4 3.5-6.5 7.5-6.5s6.9 2.5 7.5 6.5`,
  users: 'M3 20c0-7 12-7 12 0M9 12a4 4 0 1 0-.1 0M16 5a4 4 0 0 1 0 7m2 3q3 1 3 5',
  x: 'm5.5 5.5 13 13m0-13-13 13',
  tag: 'M3.5 3.5H12l8.5 8.5-8.5 8.5L3.5 12ZM8 7.9v.1',
} as const;

export type IconName = keyof typeof drawings;

/** Mirrored on right-to-left pages. */
const pointing: ReadonlySet<IconName> = new Set(['arrow']);

/** Hidden from screen readers, because the text beside it says the same. */
export const Icon: FC<{ name: IconName }> = ({ name }) => (
  <svg class={pointing.has(name) ? 'icon pointing' : 'icon'} viewBox="0 0 24 24" aria-hidden="true">
    <path d={drawings[name]} />
  </svg>
);

interface Says {
  readonly say: Messages['say'];
}

/** Texts for a script, by their names in an element's `dataset`. */
export function textsFor({ say }: Says, texts: Readonly<Record<string, MessageKey>>): Record<string, string> {
  const nameOf = (name: string) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [nameOf(name), say(text)]));
}

type Attributes = JSX.IntrinsicElements;
export type ButtonProps = Attributes['button'] & { frame: Says; say: MessageKey; icon?: IconName };

/** Sends its form, unless it has another type. */
export const Button: FC<ButtonProps> = ({ frame, say, icon, ...attributes }) => (
  <button type="submit" {...attributes}>
    {icon === undefined ? null : <Icon name={icon} />}
    {frame.say(say)}
  </button>
);

export const ScriptButton: FC<ButtonProps> = (props) => <Button {...props} type="button" />;

type ChipProps = PropsWithChildren<Attributes['details'] & { icon: IconName; title: string }>;

/** An option that unfolds, in a row of others. */
export const Chip: FC<ChipProps> = ({ icon, title, children, class: kind = 'chip', ...attributes }) => (
  <details class={kind} {...attributes}>
    <summary>
      <Icon name={icon} />
      {title}
    </summary>
    <div class="panel">{children}</div>
  </details>
);

export type BadgeKind = 'good' | 'waiting' | 'bad' | 'expired' | 'plain';

/** A status; colour and icon only repeat the word. */
export const Badge: FC<PropsWithChildren<{ kind: BadgeKind; icon?: IconName }>> = ({
  kind,
  icon,
  children,
}) => (
  <span class={kind === 'plain' ? 'badge' : `badge ${kind}`}>
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </span>
);

interface CopyProps {
  readonly frame: Says;
  /** The id of the field or element to copy. Absent if `data-copy` selects it. */
  readonly target?: string;
  readonly say?: MessageKey;
}

/** Hidden without scripts. For two seconds after copying, it has the class `is-copied`, and shows its second icon and `data-copied`. */
export const CopyButton: FC<Attributes['button'] & CopyProps> = (props) => {
  const { frame, target, say = 'copy.copy', ...attributes } = props;
  return (
    <button
      type="button"
      hidden
      data-copy={`#${target}`}
      data-copied={frame.say('copy.copied')}
      {...attributes}
    >
      <Icon name="copy" />
      <Icon name="check" />
      <span>{frame.say(say)}</span>
    </button>
  );
};

/** Filled by `client/copying.ts`; one per page, after the buttons. */
export const CopyStatus: FC<{ frame: Says; failed: MessageKey }> = ({ frame, failed }) => (
  <p class="copied" id="copied" role="status" data-failed={frame.say(failed)} />
);

interface MomentProps {
  readonly messages: Messages;
  readonly at: number;
}

type OfTime<T> = (messages: Messages, at: number) => T;

/** Makes a time that says `text`, in UTC; `client/time.ts` rewrites it in the reader's time zone, as its data say. */
function timeAs(text: OfTime<string>, data: OfTime<Record<string, string>>): FC<MomentProps> {
  return ({ messages, at }) => (
    <time datetime={new Date(at * 1000).toISOString()} {...data(messages, at)}>
      {text(messages, at)}
    </time>
  );
}

const short: OfTime<string> = ({ shortMoment }, at) => shortMoment(at);

export const Moment = timeAs(
  ({ moment }, at) => moment(at),
  ({ locale }) => ({ 'data-moment': hasWeekday(locale) ? 'weekday' : 'long' }),
);

export const ShortTime = timeAs(short, () => ({ 'data-moment': 'short' }));

/** For lists: "2 hours ago" and the short local time in `.exact`; without scripts, the short time in UTC. */
export const Ago = timeAs(short, ({ say }) => ({ 'data-moment': 'ago', 'data-now': say('time.justNow') }));

/** Like `Ago`, for the future: "in 7 days", rounded down. */
export const In = timeAs(short, ({ say }) => ({ 'data-moment': 'in', 'data-about': say('time.about') }));

interface LeftProps extends MomentProps {
  /** Seconds until `at`. The script counts down from there, regardless of the device's clock. */
  readonly seconds: number;
}

/** The time left: "about 7 days". Scripts keep it current. */
export const Left: FC<LeftProps> = ({ messages, at, seconds }) =>
  timeAs(
    ({ roughly }) => roughly(seconds),
    ({ say }) => ({ 'data-moment': 'left', 'data-left': `${seconds}`, 'data-about': say('time.about') }),
  )({ messages, at });

interface DatedProps extends MomentProps {
  readonly say: MessageKey;
  readonly params?: MessageParams;
  readonly as?: FC<MomentProps>;
  /** Seconds until `at`, for a message with `{left}`. */
  readonly left?: number;
}

export const Dated: FC<DatedProps> = ({ messages, say, at, params = {}, as: Shown = Moment, left = 0 }) => (
  <>
    {messages
      .say(say, params)
      .split(/(\{date\}|\{left\})/)
      .map((part) => {
        if (part === '{date}') return <Shown messages={messages} at={at} />;
        return part === '{left}' ? <Left messages={messages} at={at} seconds={left} /> : part;
      })}
  </>
);
