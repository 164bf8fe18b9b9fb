/** The texts of the English pages, by key: tests that use it do not break when a sentence is reworded. */
import { catalogueOf, type MessageKey } from '../../src/locale/catalogues.ts';
import { type MessageParams, translate } from '../../src/locale/translate.ts';

/** The text as a person reads it. */
export function words(key: MessageKey, params: MessageParams = {}): string {
  return translate('en', key, params);
}

/**
 * Matches a page that contains the message in any of its plural forms, with anything for a placeholder that has no
 * value here.
 */
export function saying(key: MessageKey, params: MessageParams = {}): RegExp {
  const message = catalogueOf('en')[key];
  const forms = typeof message === 'string' ? [message] : Object.values(message);
  return new RegExp(forms.map((form) => patternOf(form, params)).join('|'));
}

function patternOf(form: string, params: MessageParams): string {
  return form
    .split(/(\{[a-zA-Z]+\})/)
    .map((part, index) => {
      if (index % 2 === 0) return RegExp.escape(part);
      const value = params[part.slice(1, -1)];
      return value === undefined ? '[^]+?' : RegExp.escape(String(value));
    })
    .join('');
}
