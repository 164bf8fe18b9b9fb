/**
 * The pages of a gone secret and of a damaged link. A mail filter may have escaped the `#`, which makes the fragment part of the path:
 * this moves it behind the `#` again, where no server gets it.
 */
import { parseLink, secretLink } from '../../protocol/link.ts';
import { beginTelling } from './copying.ts';

beginTelling();

const link = parseLink(location.origin + location.pathname);
if (link?.kind === 'secret' && link.fragment !== null)
  location.replace(`${secretLink(link.key, '', link.server ?? '')}#${link.fragment}`);
