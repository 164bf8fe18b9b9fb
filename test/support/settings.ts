/** Settings for tests, read as the product reads them. */
import type { SmtpServer, TrustedProxies } from '../../src/config/addresses.ts';
import { type Environment, readConfig, type Settings } from '../../src/config/read.ts';

export function settingsOf(env: Environment = {}): Settings {
  const reading = readConfig(env);
  if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
  const [fault] = reading.settings.serverFaults;
  if (fault !== undefined) throw new Error(fault.sentence);
  return reading.settings;
}

export function proxiesOf(ranges: readonly string[]): TrustedProxies {
  return settingsOf({ MAYFLY_TRUSTED_PROXIES: ranges.join(',') }).trustedProxies;
}

export function smtpServerOf(url: string): SmtpServer {
  const { smtpServer } = settingsOf({ MAYFLY_SMTP_URL: url });
  if (smtpServer === null) throw new Error('no mail server');
  return smtpServer;
}
