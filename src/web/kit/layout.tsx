/**
 * The frame of every page and its content security policy, which depends on the brand (P19). Pages load only this site's style sheets,
 * scripts and pictures and run no inline script. The first Tab stop skips the header.
 */
import { createHash } from 'node:crypto';
import { raw } from 'hono/html';
import type { FC, JSX, PropsWithChildren } from 'hono/jsx';
import type { Settings } from '../../config/read.ts';
import type { BrandedDomain } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { Assets, ScriptName, StyleName } from '../assets/assets.ts';
import type { Brand } from '../brand/brand.ts';
import { paletteOf, type Scheme } from '../brand/colours.ts';
import { DefaultLogo } from '../brand/default-logo.tsx';
import { formTokenField } from './form-token.ts';
import type { Messages } from './language.ts';
import { Icon } from './parts.tsx';
import type { Href, RouteName } from './routes.ts';

export interface Frame {
  readonly messages: Messages;
  /** Of `messages`. */
  readonly say: Messages['say'];
  readonly href: Href;
  readonly brand: Brand;
  readonly assets: Assets;
  /** `null` without a session. */
  readonly visitor: { readonly username: string } | null;
  /** The session's form token; `''` without a session. `PostForm` adds it. */
  readonly formToken: string;
  /** The browser's form token, on log-in and sign-up pages without a session; otherwise `''`. */
  readonly signInToken: string;
  /** This page's path and query without the language; `null` if a GET would not show the page again. */
  readonly here: string | null;
  /** This is a secret's address, whether or not the secret exists. */
  readonly isLink: boolean;
  readonly settings: Settings;
  /** The share domain, which has no log-in; `null` on the site itself. */
  readonly domain: BrandedDomain | null;
}

/** Whether visitors may share on this host. */
export function sharesHere({ domain }: Frame): boolean {
  return domain === null || domain.brand.isPublic;
}

/** `worker` may start the worker that stretches passphrases; `opening` may also show decrypted pictures. */
export type PolicyKind = 'plain' | 'worker' | 'opening';

const policies = new WeakMap<Brand, Partial<Record<PolicyKind, string>>>();

export function contentSecurityPolicy(brand: Brand, kind: PolicyKind): string {
  const known = policies.get(brand) ?? {};
  policies.set(brand, known);
  known[kind] ??= policyFor(brand, kind);
  return known[kind];
}

/** `client/stretching.ts` creates `mayfly-worker`. */
function policyFor({ styleText }: Brand, kind: PolicyKind): string {
  const usesWorker = kind !== 'plain';
  const brandStyle = styleText === '' ? '' : ` '${hashOf(styleText)}'`;
  return [
    "default-src 'none'",
    `style-src 'self'${brandStyle}`,
    "script-src 'self'",
    "connect-src 'self'",
    `img-src 'self'${kind === 'opening' ? ' blob:' : ''}`,
    "font-src 'self'",
    "manifest-src 'self'",
    ...(usesWorker ? ["worker-src 'self'"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${usesWorker ? 'mayfly-worker' : "'none'"}`,
  ].join('; ');
}

export function workerAttributes({ href, assets: { worker } }: Frame): Record<string, string> {
  return { 'data-worker': href('asset', worker.name), 'data-worker-integrity': worker.integrity };
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

export interface PageProps {
  readonly frame: Frame;
  readonly title: string;
  readonly scripts?: readonly ScriptName[];
  readonly styles?: readonly StyleName[];
  /** The name of an icon in `/icons/` for the tab, in place of the default logo. */
  readonly icon?: string;
}

const metas = raw(
  String(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="referrer" content="no-referrer" />
      <meta name="robots" content="noindex, nofollow, noarchive" />
    </>,
  ),
);

export const Page: FC<PropsWithChildren<PageProps>> = ({
  frame,
  title,
  scripts = [],
  styles = [],
  icon = '',
  children,
}) => {
  const { messages, brand } = frame;
  return (
    <html lang={messages.locale} dir={messages.direction}>
      <head>
        {metas}
        <title>{`${title} · ${brand.name}`}</title>
        {onceFor(frame, `assets ${scripts} ${styles} ${icon}`, () => (
          <PageAssets frame={frame} scripts={scripts} styles={styles} icon={icon} />
        ))}
        {onceFor(frame, `card ${frame.isLink}`, () => (
          <Card frame={frame} />
        ))}
        {isAt(frame, 'home') && frame.domain === null ? (
          <link rel="manifest" href={frame.href('manifest')} />
        ) : null}
      </head>
      <body class={brand.logo === null ? undefined : 'branded'}>
        {headerOf(frame)}
        <main id="main" tabindex={-1}>
          {children}
        </main>
        <Footer frame={frame} />
      </body>
    </html>
  );
};

const papers = { light: paletteOf('light').paper, dark: paletteOf('dark').paper } as const;

/** Sets the colour of the browser's frame. Returns text, because JSX keeps only the first of two `meta` elements with the same name. */
function themeOf({ colours }: Brand): string {
  const meta = (scheme: Scheme) =>
    `<meta name="theme-color" media="(prefers-color-scheme: ${scheme})" content="${colours[scheme] ?? papers[scheme]}"/>`;
  return meta('light') + meta('dark');
}

type PageAssetProps = Required<Omit<PageProps, 'title'>>;

const PageAssets: FC<PageAssetProps> = ({ frame, scripts, styles, icon }) => {
  const { href, brand, assets } = frame;
  return (
    <>
      {raw(themeOf(brand))}
      {brand.logo === null ? (
        <link rel="icon" href={icon === '' ? href('icon') : href('appIcon', icon)} type="image/svg+xml" />
      ) : (
        <link rel="icon" href={href('logo', brand.logo.name)} type={brand.logo.type} />
      )}
      {[assets.style, ...styles.map(assets.extraStyle)].map(({ name, integrity }) => (
        <link rel="stylesheet" href={href('asset', name)} integrity={integrity} />
      ))}
      {brand.styleText === '' ? null : <style>{raw(brand.styleText)}</style>}
      {scripts.map((name) => {
        const script = assets.script(name);
        return <script type="module" src={href('asset', script.name)} integrity={script.integrity} />;
      })}
    </>
  );
};

/** The preview in chats (Open Graph). It says the same for every secret, existing or not, and names only the brand. */
const Card: FC<{ frame: Frame }> = ({ frame }) => {
  const { messages, href, brand, settings, domain, isLink } = frame;
  const origin = domain === null ? new URL(settings.baseUrl).origin : `https://${domain.name}`;
  const picture = brand.logo === null ? href('appIcon', 'card.png') : href('logo', brand.logo.name);
  return (
    <>
      <meta property="og:title" content={isLink ? messages.say('card.title') : brand.name} />
      <meta property="og:description" content={messages.say(isLink ? 'card.lead' : 'card.site')} />
      <meta property="og:image" content={origin + picture} />
    </>
  );
};

type Part = ReturnType<typeof raw>;

const knownParts = new WeakMap<Settings, WeakMap<Brand, Map<string, Part>>>();

/**
 * Renders a part shared by many pages once for each site, brand and language; such parts make up most of a small page. The key need not
 * name the share domain, because each has its own brand object.
 * @param name identifies everything else that the part depends on
 */
export function onceFor(frame: Frame, name: string, render: () => unknown): Part {
  const parts = partsOf(frame);
  const key = `${frame.messages.locale} ${name}`;
  const known = parts.get(key);
  if (known !== undefined) return known;
  const part = raw(String(render()));
  parts.set(key, part);
  return part;
}

function partsOf({ settings, brand }: Frame): Map<string, Part> {
  const known = knownParts.get(settings)?.get(brand);
  if (known !== undefined) return known;
  const parts = new Map<string, Part>();
  const ofSite = knownParts.get(settings) ?? new WeakMap<Brand, Map<string, Part>>();
  knownParts.set(settings, ofSite.set(brand, parts));
  return parts;
}

/** A logged-in person's header contains their form token, so it is rendered each time. */
function headerOf(frame: Frame) {
  if (frame.visitor !== null) return <Header frame={frame} />;
  const marked =
    (['home', 'ask', 'logIn', 'signUp'] as const).find((name) => isAt(frame, name)) ?? 'elsewhere';
  return onceFor(frame, `header ${marked}`, () => <Header frame={frame} />);
}

function isAt({ here, href }: Frame, name: RouteName): boolean {
  return here?.split('?')[0] === href(name);
}

const Header: FC<{ frame: Frame }> = ({ frame }) => {
  const { messages, href, brand } = frame;
  return (
    <>
      <a class="skip" href="#main">
        {messages.say('frame.skip')}
      </a>
      <header>
        <a class="brand" href={href('home')}>
          {brand.logo === null ? <DefaultLogo /> : <img src={href('logo', brand.logo.name)} alt="" />}
          {brand.name}
        </a>
        {sharesHere(frame) ? <Navigation frame={frame} /> : null}
      </header>
    </>
  );
};

/** On a narrow screen, this is a native `details` element, which works without scripts. */
const Navigation: FC<{ frame: Frame }> = ({ frame }) => (
  <nav class="site-nav" aria-label={frame.say('frame.nav')}>
    {frame.domain === null ? (
      <details class="site-menu">
        <summary>
          <Icon name="user" />
          <span class="visually-hidden">{frame.say('frame.menu')}</span>
        </summary>
        <div>
          <NavLink frame={frame} to="home" say="frame.share" />
          {frame.settings.requests === 'off' ? null : <NavLink frame={frame} to="ask" say="frame.ask" />}
          <AccountLinks frame={frame} />
        </div>
      </details>
    ) : (
      <NavLink frame={frame} to="home" say="frame.share" />
    )}
  </nav>
);

const AccountLinks: FC<{ frame: Frame }> = ({ frame }) =>
  frame.visitor === null ? (
    <>
      <NavLink frame={frame} to="logIn" say="frame.logIn" />
      {frame.settings.signUpIsOpen ? <NavLink frame={frame} to="signUp" say="frame.signUp" /> : null}
    </>
  ) : (
    <>
      <NavLink frame={frame} to="recent" say="frame.recent" />
      <NavLink frame={frame} to="account" say="frame.account" />
      <PostForm frame={frame} action={frame.href('logOut')}>
        <button type="submit">{frame.say('frame.logOut')}</button>
      </PostForm>
    </>
  );

const NavLink: FC<{ frame: Frame; to: RouteName; say: MessageKey }> = ({ frame, to, say }) => (
  <a href={frame.href(to)} aria-current={isAt(frame, to) ? 'page' : undefined}>
    {frame.say(say)}
  </a>
);

const Footer: FC<{ frame: Frame }> = ({ frame }) => (
  <footer>
    {onceFor(frame, 'region', () => (
      <RegionNote frame={frame} />
    ))}
    <div class="foot">
      {onceFor(frame, 'links', () => (
        <nav aria-label={frame.say('frame.footNav')}>
          <ul>
            {footLinks(frame).map(([address, label]) => (
              <li>
                <a href={address}>{label}</a>
              </li>
            ))}
          </ul>
        </nav>
      ))}
      <LanguageLink frame={frame} />
    </div>
  </footer>
);

const RegionNote: FC<{ frame: Frame }> = ({ frame: { messages, href, settings } }) =>
  settings.region === null ? null : (
    <p>
      {messages.say('frame.region', { region: settings.region.toUpperCase() })}{' '}
      <a href={href('regions')}>{messages.say('frame.regions')}</a>
    </p>
  );

function footLinks({ messages, href, brand }: Frame): (readonly [string, string])[] {
  const { termsUrl, imprintUrl } = brand;
  return [
    [href('about'), messages.say('frame.about')],
    [href('security'), messages.say('frame.security')],
    [href('docs'), messages.say('docs.title')],
    [href('apiDocs'), messages.say('frame.api')],
    [href('status'), messages.say('frame.status')],
    ...(termsUrl === null ? [] : [[termsUrl, messages.say('frame.terms')] as const]),
    ...(imprintUrl === null ? [] : [[imprintUrl, messages.say('frame.imprint')] as const]),
    ...brand.links.map(({ label, url }) => [url, label] as const),
  ];
}

/** Leads to the choice of languages, which is this page with an empty `lang` (`kit/language-page.tsx`). */
const LanguageLink: FC<{ frame: Frame }> = ({ frame: { messages, here, settings } }) =>
  here === null || settings.locales.length < 2 ? null : (
    <a class="language" href={`${here}${here.includes('?') ? '&' : '?'}lang`} data-keeps-fragment>
      <span class="visually-hidden">{messages.say('frame.language')}</span>
      <Icon name="globe" />
      {messages.languageName(messages.locale)}
    </a>
  );

type PostFormProps = PropsWithChildren<
  JSX.IntrinsicElements['form'] & { frame: Frame; action: string; isSignIn?: boolean }
>;

/** A POST form with the session's form token or, for logging in or signing up, the browser's. */
export const PostForm: FC<PostFormProps> = ({ frame, isSignIn, children, ...attributes }) => {
  const token = isSignIn === true ? frame.formToken || frame.signInToken : frame.formToken;
  return (
    <form method="post" {...attributes}>
      {token === '' ? null : <input type="hidden" name={formTokenField} value={token} />}
      {children}
    </form>
  );
};
