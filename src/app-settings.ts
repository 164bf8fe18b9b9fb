/**
 * From the settings to what the app is built from.
 *
 * Owns: the settings whose meaning is another part's to judge (limits, languages, brands, proxies, mail), each in that part's
 * own words. Invariant: what cannot be used stops the start with a sentence that names the variable; nothing is opened here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config/read.ts';
import { createLinks } from './core/links.ts';
import type { MailLocaleOf } from './core/mail/mailer.ts';
import type { Regions } from './core/regions.ts';
import { parseTrustedProxies } from './http/client-address.ts';
import { builtInRateLimits, parseRateLimits, type RateLimitTable } from './http/rate-limit.ts';
import { type Locale, supportedLocales } from './locale/catalogues.ts';
import { lookUp } from './locale/negotiate.ts';
import type { OutboxOptions } from './mail/outbox.ts';
import type { MailSetting, MailSettingError } from './mail/settings.ts';
import type { SmtpServerOptions } from './mail/smtp.ts';
import type { SiteDeps } from './site.ts';
import type { Brands } from './web/brand/brand.ts';

/** The start cannot go on: a sentence for the operator. */
export class StartRefusal extends Error {
  override readonly name: string = 'StartRefusal';
}

/** A start that a setting makes impossible: wrong usage, rather than a machine in the wrong state. */
export class SettingRefusal extends StartRefusal {
  override readonly name = 'SettingRefusal';
}

export function readRateLimits({ rateLimits }: Config): RateLimitTable | 'off' {
  if (rateLimits.mode === 'on') return builtInRateLimits;
  if (rateLimits.mode === 'off') return 'off';
  const table = parseRateLimits(readJson('MAYFLY_RATE_LIMITS', rateLimits.path));
  if (!('problems' in table)) return table;
  const sentences = table.problems.map((problem) => `MAYFLY_RATE_LIMITS (${rateLimits.path}): ${problem}.`);
  throw new SettingRefusal(sentences.join('\n'));
}

/** `undefined` for a file that is no JSON. */
function readJson(variable: string, path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new SettingRefusal(`${variable} names a file that cannot be read: ${path}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readLocale(env: string, tag: string): Locale {
  const known = supportedLocales.find((locale) => locale === tag);
  if (known !== undefined) return known;
  const spoken = supportedLocales.join(', ');
  throw new SettingRefusal(
    `${env} names the language "${tag}", which Mayfly does not speak: it speaks ${spoken}.`,
  );
}

export function readLocales(config: Config): Pick<SiteDeps, 'locales' | 'defaultLocale'> {
  const locales = config.locales?.map((tag) => readLocale('MAYFLY_LOCALES', tag)) ?? supportedLocales;
  const defaultLocale = readLocale('MAYFLY_DEFAULT_LOCALE', config.defaultLocale);
  if (locales.includes(defaultLocale)) return { locales, defaultLocale };
  throw new SettingRefusal('MAYFLY_DEFAULT_LOCALE must be one of MAYFLY_LOCALES.');
}

export function createMailLocaleOf(settings: Pick<SiteDeps, 'locales' | 'defaultLocale'>): MailLocaleOf {
  const { locales, defaultLocale } = settings;
  return (asked) => (asked === null ? null : lookUp(asked, locales)) ?? defaultLocale;
}

/** The file's brands; the built-in one where there is no file. */
export async function readBrands({ brandFile }: Config): Promise<Brands> {
  const { ownBrands } = await import('./web/brand/brand.ts');
  if (brandFile === null) return ownBrands;
  const { readBrandFile } = await import('./web/brand/brand-file.ts');
  const brands = readBrandFile(brandFile);
  if ('error' in brands) throw new SettingRefusal(`MAYFLY_BRAND_FILE (${brandFile}): ${brands.error}`);
  return brands;
}

/** The regions, for whoever shows them; `null` where there are none. */
export function regionsOf({ region, regions }: Config): Regions | null {
  return region === null ? null : { own: region, all: regions };
}

export function readProxies({ trustedProxies }: Config) {
  const proxies = parseTrustedProxies(trustedProxies);
  if ('error' in proxies) throw new SettingRefusal(`MAYFLY_TRUSTED_PROXIES: ${proxies.error}.`);
  return proxies;
}

/** What would stop the start, of the settings that are judged here but for those of mail. */
export async function settingProblems(config: Config): Promise<string[]> {
  const problems: string[] = [];
  for (const read of [readLocales, readRateLimits, readProxies, readBrands]) {
    try {
      await read(config);
    } catch (error) {
      if (!(error instanceof SettingRefusal)) throw error;
      problems.push(error.message);
    }
  }
  return problems;
}

const mailVariables: Readonly<Record<MailSetting, string>> = {
  server: 'MAYFLY_SMTP_URL',
  sender: 'MAYFLY_MAIL_FROM',
  return_path: 'MAYFLY_MAIL_RETURN_PATH',
  dkim: 'MAYFLY_DKIM_DOMAIN, MAYFLY_DKIM_SELECTOR, MAYFLY_DKIM_KEY',
};

export function mailRefusal({ setting, message }: MailSettingError): string {
  return `${mailVariables[setting]}: ${message}`;
}

/** The name that the site's own pages bear. */
function siteNameOf({ baseUrl }: Config, brands: Brands): string {
  return brands.forHost(createLinks(baseUrl).siteHost).name;
}

export function outboxOptions(config: Config, brands: Brands): OutboxOptions {
  const { dataDir, mailFrom: from } = config;
  return { directory: join(dataDir, 'outbox'), from, siteName: siteNameOf(config, brands) };
}

export function mailOptions(config: Config, brands: Brands, url: string): SmtpServerOptions {
  const { mailFrom: from, mailReturnPath: returnPath } = config;
  const { dkimDomain: domain, dkimSelector: selector, dkimKey: privateKey } = config;
  const siteName = siteNameOf(config, brands);
  return { url, from, siteName, returnPath, dkim: { domain, selector, privateKey } };
}
