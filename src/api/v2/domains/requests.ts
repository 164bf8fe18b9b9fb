/**
 * What API v2 takes about domains.
 *
 * Owns: the names and types on the wire. Invariant: a schema only looks; what a domain or a brand may be is the core's
 * to judge. Fields that are not known are ignored.
 */
import { z } from 'zod';

const notText = 'Must be a text';
const notBoolean = 'Must be true or false';

export const addBody = z
  .object({
    domain: z
      .string(notText)
      .nullish()
      .meta({ description: 'A name such as secrets.example.com.', examples: ['secrets.example.com'] }),
  })
  .meta({ id: 'DomainRequest' });

const colour = (paper: string) =>
  z
    .string(notText)
    .nullish()
    .meta({ description: `\`#rgb\` or \`#rrggbb\`, readable on ${paper} paper. Null: the site's own.` });
const text = (description: string, example: string) =>
  z
    .string(notText)
    .nullish()
    .meta({ description, examples: [example] });
const flag = z.boolean(notBoolean).nullish();

export const brandFields = z
  .object({
    name: text('1 to 60 characters. Null: the site’s own.', 'Example Inc.'),
    primary_color: colour('light'),
    primary_color_dark: colour('dark'),
    instructions_pre_reveal: text(
      '1 to 500 characters, shown above the button that opens a secret.',
      'Please open this alone.',
    ),
    instructions_post_reveal: text(
      '1 to 500 characters, shown below an opened secret.',
      'Keep it in your password safe.',
    ),
    locale: text('A language that is offered: that of pages, unless the reader has chosen one.', 'en'),
    allow_public_homepage: flag.meta({ description: 'Whether anybody may share on this domain.' }),
    allow_public_api: flag.meta({ description: 'The same; both, when given, must agree.' }),
  })
  .meta({ id: 'BrandFields' });

/** Nested under `brand`, as existing clients send it, or flat. Absent fields stay as they are. */
export const brandBody = z.union([z.object({ brand: brandFields }).meta({ title: 'nested' }), brandFields]);

export const logoBody = z.string().meta({
  description: 'The bytes of the picture. Its type is judged by its content.',
  examples: ['<bytes>'],
});

export type BrandFields = z.output<typeof brandFields>;
