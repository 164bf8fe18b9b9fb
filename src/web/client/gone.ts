/**
 * For the pages about a gone secret or a damaged link. A mail filter may have escaped the `#`, making the fragment part of the path. This
 * script moves it back behind the `#`, where no server receives it.
 */
import { parseLink, secretLink } from '../../protocol/link.ts';
import { beginTelling } from './copying.ts';

beginTelling();

const link = parseLink(location.origin + location.pathname);
if (link?.kind === 'secret' && link.fragment !== null)
  location.replace(`${secretLink(link.key, '', link.server ?? '')}#${link.fragment}`);
