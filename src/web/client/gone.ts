/**
 * The pages of a secret that is gone and of a damaged link. A mail filter may have escaped the `#`, so that the end of the link came with
 * the path: after the `#` again, it goes to no server any more.
 */
import { parseLink, secretLink } from '../../protocol/link.ts';
import { beginTelling } from './telling.ts';

beginTelling();

const link = parseLink(location.origin + location.pathname);
if (link?.kind === 'secret' && link.fragment !== null)
  location.replace(`${secretLink(link.key, '', link.server ?? '')}#${link.fragment}`);
