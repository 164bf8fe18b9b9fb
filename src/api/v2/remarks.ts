/**
 * What v2 says in the `details` of a success that was not quite what was asked: `adjusted` (what was granted other than
 * asked) and `ignored` (unknown fields). Both are absent where there is nothing to say, and bounded, since they repeat what
 * a client sent.
 */
import { z } from 'zod';
import { seconds } from '../fields.ts';

const longestAsked = 100;

/** As it was asked, so that a client can compare: shortened when it is a long text. */
export function asAsked(given: string): string {
  return given.slice(0, longestAsked).toWellFormed();
}

export const ignored = z.array(z.string()).optional().meta({
  description: 'Unknown fields of the body, as dotted paths, at most 20; absent when there are none.',
});

const adjustedLocale = z
  .object({ asked: z.string(), granted: z.string() })
  .optional()
  .meta({ description: 'Where the language is not offered: the one that the mail is in.' });

const absent = 'What was granted other than asked; absent when nothing was.';

export const localeAdjusted = z.object({ locale: adjustedLocale }).optional().meta({ description: absent });

export const adjusted = z
  .object({
    ttl: z
      .object({ asked: z.union([z.number(), z.string()]), granted: seconds })
      .optional()
      .meta({ description: "Where the plan's bounds are in the way: the lifetime granted, in seconds." }),
    locale: adjustedLocale,
  })
  .optional()
  .meta({ description: absent });

export interface Remarks<Adjusted extends object> {
  readonly adjusted: Adjusted;
  readonly ignored: readonly string[];
}

/** The two fields, as far as there is something to say. */
export function encodeRemarks<Adjusted extends object>(remarks: Remarks<Adjusted>) {
  return {
    ...(Object.keys(remarks.adjusted).length > 0 && { adjusted: remarks.adjusted }),
    ...encodeIgnored(remarks.ignored),
  };
}

export function encodeIgnored(paths: readonly string[]): { ignored?: string[] } {
  return paths.length > 0 ? { ignored: [...paths] } : {};
}

/** The lifetime, where it is another than was asked for. */
export function adjustedTtl(askedFor: number | string | null, granted: number) {
  return askedFor === null || askedFor === granted ? {} : { ttl: { asked: askedFor, granted } };
}

/** The language, where it is another than was asked for: `fr` for `fr-CH` is the same, `zh-CN` for `zh-TW` is not. */
export function adjustedLocaleOf(askedFor: string | null, granted: string) {
  const isGranted = askedFor === null || `${askedFor}-`.toLowerCase().startsWith(`${granted}-`.toLowerCase());
  return isGranted ? {} : { locale: { asked: asAsked(askedFor), granted } };
}
