/**
 * What a share domain may look like, as the core asks for it.
 *
 * Owns: the binding of the checks of colours and logos, which are made for our paper. Invariant: an owner's colour and
 * logo are held to the same rules as the operator's.
 */
import type { BrandRules } from '../../core/share-domains/brand.ts';
import { nearestReadable } from './brand-colour.ts';
import { maxLogoBytes, parseLogo } from './logo.ts';

export const brandRules: BrandRules = {
  nearestReadable,
  maxLogoBytes,
  parseLogo(bytes) {
    // A copy of its own: what is kept does not hold the whole form that it came in.
    const logo = parseLogo(new Uint8Array(bytes));
    if ('problem' in logo) return { problem: logo.problem };
    return { name: logo.name, type: logo.file.type, bytes: logo.file.bytes };
  },
};
