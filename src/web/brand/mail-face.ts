/**
 * Whose face a mail has: of the site or of a share domain.
 *
 * Owns: name, host and colour of mails. Invariant: the button of a mail can be read: white text on the colour has 4.5 : 1
 * (WCAG 2.2, 1.4.3), or the colour is our own; a store that does not answer costs a mail its face and not its sending.
 */

import type { MailFaceOf } from '../../core/mail/mailer.ts';
import type { DomainService } from '../../core/share-domains/service.ts';
import type { Brands } from './brand.ts';
import { readable } from './brand-colour.ts';
import { contrast } from './colours.ts';
import { ownFaceOf } from './faces.ts';

export interface MailFaceDeps {
  readonly brands: Brands;
  readonly domains: Pick<DomainService, 'faceOf'>;
  readonly siteHost: string;
}

const buttonText = '#ffffff';

export function createMailFaceOf({ brands, domains, siteHost }: MailFaceDeps): MailFaceOf {
  return async (shareDomain) => {
    const host = shareDomain === '' ? siteHost : shareDomain;
    const operators = brands.forHost(host);
    const own = shareDomain === '' ? null : await ownFaceOf(domains, shareDomain);
    const colour = own?.brand.colour ?? operators.colours.light ?? null;
    return {
      name: own?.brand.name ?? operators.name,
      host,
      colour: colour !== null && contrast(buttonText, colour) >= readable ? colour : null,
    };
  };
}
