/**
 * Decoding of what API v2 takes about domains.
 *
 * Owns: the way from the wire's names to the core's. Invariant: a field that is absent changes nothing; `null` and the
 * empty text both give the site's own again.
 */
import type { BrandChanges } from '../../../core/share-domains/brand.ts';
import type { Exchange } from '../../../http/operation.ts';
import { ignoredIn, invalidFields, isObject, readObject } from '../body.ts';
import { type FromBody, parseFields } from '../decode.ts';
import type { Dialect } from '../dialect.ts';
import { addBody, type BrandFields, brandFields } from './requests.ts';

export interface AddRequest extends FromBody {
  readonly name: string;
}

export interface BrandRequest {
  readonly name: string;
  readonly changes: BrandChanges;
  /** What stands before a field's name in the body that was sent: `brand.` or nothing. */
  readonly prefix: string;
}

export interface LogoRequest {
  readonly name: string;
  /** `null`: sent as something that is no picture. */
  readonly bytes: Uint8Array | null;
}

export function decodeName(exchange: Exchange): string {
  return exchange.params.domain ?? '';
}

export async function decodeAdd(exchange: Exchange, dialect: Dialect): Promise<AddRequest> {
  const body = await readObject(exchange, dialect);
  return { name: parseFields(addBody, body, '').domain ?? '', ignored: ignoredIn(body, addBody) };
}

function isPublicOf(fields: BrandFields, prefix: string): boolean | null {
  const { allow_public_homepage: homepage = null, allow_public_api: api = null } = fields;
  if (homepage !== null && api !== null && homepage !== api)
    throw invalidFields({
      field: `${prefix}allow_public_api`,
      message: 'Must agree with allow_public_homepage',
    });
  return homepage ?? api;
}

function brandChanges(fields: BrandFields, prefix: string): BrandChanges {
  const texts = {
    name: fields.name,
    colour: fields.primary_color,
    colourDark: fields.primary_color_dark,
    instructionsBefore: fields.instructions_pre_reveal,
    instructionsAfter: fields.instructions_post_reveal,
    locale: fields.locale,
  };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined);
  const isPublic = isPublicOf(fields, prefix);
  return {
    ...Object.fromEntries(given.map(([field, value]) => [field, value === '' ? null : value])),
    ...(isPublic !== null && { isPublic }),
  };
}

export async function decodeBrand(exchange: Exchange, dialect: Dialect): Promise<BrandRequest> {
  const body = await readObject(exchange, dialect);
  const isNested = body.brand !== undefined;
  if (isNested && !isObject(body.brand))
    throw invalidFields({ field: 'brand', message: 'Must be an object' });
  const prefix = isNested ? 'brand.' : '';
  const fields = parseFields(brandFields, isNested ? body.brand : body, prefix);
  return { name: decodeName(exchange), changes: brandChanges(fields, prefix), prefix };
}

export async function decodeLogo(exchange: Exchange): Promise<LogoRequest> {
  const isPicture = /^image\//i.test(exchange.request.headers.get('content-type') ?? '');
  return { name: decodeName(exchange), bytes: isPicture ? await exchange.body() : null };
}
