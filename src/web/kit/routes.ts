/**
 * Page addresses, as data. A link inside the site is a path below the base path of the configured base URL, never made from
 * a request (P20).
 */
export const routes = {
  home: '/',
  /** The base path without its slash, as people type it: leads to the start page. */
  bare: '',
  share: '/share',
  /** Puts a drawn value into the form of the start page. */
  suggest: '/suggest',
  /** The words that passphrases are drawn from, one a line. */
  words: '/words.txt',
  receipt: '/receipt/:key',
  burn: '/receipt/:key/burn',
  sendAgain: '/receipt/:key/send-again',
  memo: '/receipt/:key/memo',
  lifetime: '/receipt/:key/lifetime',
  allowMore: '/receipt/:key/allow-more',
  /** What a waiting receipt's page asks for to notice a change, as JSON. */
  receiptState: '/receipt/:key/state',
  /** The texts of the ready message in another language, as JSON. */
  receiptMessage: '/receipt/:key/message',
  /** The older names of the receipt's addresses. */
  private: '/private/:key',
  privateBurn: '/private/:key/burn',
  secret: '/secret/:key',
  /** Where the script of an end-to-end secret asks for it, as JSON. */
  secretOpen: '/secret/:key/open',
  /** Shows it again in the tab that opened it. */
  secretAgain: '/secret/:key/again',
  /** Ends the minute in which an opened secret can be shown again. */
  secretDone: '/secret/:key/done',
  /** Where its recipient burns it unread. */
  secretBurn: '/secret/:key/burn',
  recent: '/recent',
  signUp: '/sign-up',
  completeSignUp: '/sign-up/:key',
  logIn: '/log-in',
  logOut: '/log-out',
  forgotten: '/forgotten',
  reset: '/reset/:key',
  account: '/account',
  notices: '/account/notices',
  password: '/account/password',
  deleteAccount: '/account/delete',
  tokens: '/account/tokens',
  revokeToken: '/account/tokens/:key/revoke',
  sessions: '/account/sessions',
  endSession: '/account/sessions/:key/end',
  domains: '/account/domains',
  domain: '/account/domains/:key',
  verifyDomain: '/account/domains/:key/verify',
  removeDomain: '/account/domains/:key/remove',
  domainBrand: '/account/domains/:key/brand',
  domainLogo: '/account/domains/:key/logo',
  language: '/language',
  about: '/about',
  security: '/security',
  status: '/status',
  regions: '/regions',
  /** What a browser sees that comes by a name which is not this installation's (`http/cross-site.ts`). */
  misdirected: '/misdirected',
  asset: '/assets/:key',
  apiDocs: '/api/docs',
  /** Typed by hand: leads to the API page. */
  api: '/api',
  docs: '/docs',
  doc: '/docs/:key',
  /** The packages of the command and of the API's client, for npm. */
  commandPackage: '/mayfly.tgz',
  clientPackage: '/client.tgz',
  /** The API's client: `mayfly.js`, and the modules that it loads. */
  sdk: '/sdk/:key',
  logo: '/logo/:key',
  icon: '/icon.svg',
  favicon: '/favicon.ico',
  manifest: '/manifest.webmanifest',
  /** The mark as PNG: `app-512.png`. */
  appIcon: '/icons/:key',
  /** Asked for by phones when a page is put on the home screen. */
  touchIcon: '/apple-touch-icon.png',
  /** RFC 9116. */
  securityTxt: '/.well-known/security.txt',
  /** Asked for by password managers (W3C, A Well-Known URL for Changing Passwords). */
  changePassword: '/.well-known/change-password',
  robots: '/robots.txt',
} as const;

export type RouteName = keyof typeof routes;

/** Path of a page; `key` fills `:key`. */
export type Href = (name: RouteName, key?: string) => string;

/** @param basePath `''`, or `/path` without a trailing slash. */
export function createHref(basePath: string): Href {
  return (name, key = '') => basePath + routes[name].replace(':key', encodeURIComponent(key));
}

/** `''` for a base URL without a path. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '');
}
