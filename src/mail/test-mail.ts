/**
 * The mail that an operator sends to see whether mail arrives.
 *
 * Owns: its words, per locale. Invariant: pure; it holds no link and says who asked for it.
 */
import { toLocale } from '../locale/negotiate.ts';
import { translate } from '../locale/translate.ts';
import { type RenderedMail, renderMail, setApart } from './frame.tsx';

/** @param host of the site */
export function renderTestMail(host: string, language: string): RenderedMail {
  const locale = toLocale(language);
  const site = setApart(host);
  return renderMail({
    locale,
    face: null,
    subject: translate(locale, 'mail.test.subject', { site }),
    body: [translate(locale, 'mail.test.intro', { site })],
    small: [translate(locale, 'mail.automatic')],
  });
}
