/** Page addresses. Links inside the site are paths under the configured base URL, never taken from a request (P20). */
export const routes = {
  home: '/',
  /** The base path without its slash, as people type it. */
  bare: '',
  share: '/share',
  /** Puts a randomly generated value into the start page's form. */
  suggest: '/suggest',
  words: '/words.txt',
  receipt: '/receipt/:key',
  /** Several receipts on one page: their keys, with dots between them. */
  several: '/receipt/several/:key',
  burn: '/receipt/:key/burn',
  sendAgain: '/receipt/:key/send-again',
  memo: '/receipt/:key/memo',
  lifetime: '/receipt/:key/lifetime',
  allowMore: '/receipt/:key/allow-more',
  /** The share form, with the choices made for an earlier secret. */
  again: '/receipt/:key/again',
  /** A waiting receipt's page polls this, as JSON. */
  receiptState: '/receipt/:key/state',
  /** The ready message in another language, as JSON. */
  receiptMessage: '/receipt/:key/message',
  /** The receipt's older addresses. */
  private: '/private/:key',
  privateBurn: '/private/:key/burn',
  secret: '/secret/:key',
  /** Gives the page's script the sealed note, as JSON. */
  secretNote: '/secret/:key/note',
  /** Mails the code that opens the secret. */
  secretCode: '/secret/:key/code',
  /** Opens an end-to-end secret for the page's script, as JSON. */
  secretOpen: '/secret/:key/open',
  /** Shows an opened secret again in its tab. */
  secretAgain: '/secret/:key/again',
  /** Ends the minute in which an opened secret can be shown again. */
  secretDone: '/secret/:key/done',
  /** Lets the recipient burn the secret unread. */
  secretBurn: '/secret/:key/burn',
  /** Asks for a secret, and lists what this browser remembers of it. */
  ask: '/ask',
  /** A request, as its senders see it: the same for every key. */
  request: '/ask/:key',
  closeRequest: '/ask/:key/close',
  /** A request, as its asker sees it: the same for every key. */
  answers: '/answers/:key',
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
  /** For browsers that arrive under a foreign host name (`http/cross-site.ts`). */
  misdirected: '/misdirected',
  asset: '/assets/:key',
  apiDocs: '/api/docs',
  /** As people type it: redirects to the API page. */
  api: '/api',
  docs: '/docs',
  doc: '/docs/:key',
  /** The npm packages of the command and the API client. */
  commandPackage: '/mayfly.tgz',
  clientPackage: '/client.tgz',
  /** The API client: `mayfly.js` and its modules. */
  sdk: '/sdk/:key',
  logo: '/logo/:key',
  icon: '/icon.svg',
  favicon: '/favicon.ico',
  manifest: '/manifest.webmanifest',
  /** The default logo as PNG: `app-512.png`. */
  appIcon: '/icons/:key',
  /** For phones that put a page on the home screen. */
  touchIcon: '/apple-touch-icon.png',
  /** RFC 9116. */
  securityTxt: '/.well-known/security.txt',
  /** For password managers (W3C, A Well-Known URL for Changing Passwords). */
  changePassword: '/.well-known/change-password',
  robots: '/robots.txt',
} as const;

export type RouteName = keyof typeof routes;

/** Returns a page's path; `key` fills `:key`. */
export type Href = (name: RouteName, key?: string) => string;

/** @param basePath `''`, or `/path` without a trailing slash. */
export function createHref(basePath: string): Href {
  return (name, key = '') => basePath + routes[name].replace(':key', encodeURIComponent(key));
}

export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '');
}
