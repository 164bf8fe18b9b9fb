/** As `reveal.ts`, where a code is asked for: an end-to-end link is proven, so that its path alone mails nothing, and keeps its end. */
import { proveLink } from '../../../sdk/sealing.ts';
import { fragmentIn, isFragment } from '../../protocol/link.ts';
import { find } from './dom.ts';
import { onLeaving } from './handover.ts';
import { keepFragment } from './link-end.ts';
import './reveal.ts';

const form = find('form.opening', HTMLFormElement);
const proof = find('[name="link-proof"]', HTMLInputElement);
const fragment = fragmentIn(location.hash.slice(1)) ?? '';

keepFragment(fragment);
// The answer's redirect keeps it (Fetch §4.4), and no server gets it.
if (form !== null) form.action += location.hash;
if (form !== null && proof !== null) {
  // The server refuses an incomplete link, and says so.
  if (isFragment(fragment)) proof.value = await proveLink(fragment);
  document.getElementById('needs-scripts')?.remove();
  form.hidden = false;
}
// Back from another page, a reload shows the field, if a code was sent meanwhile.
onLeaving(() => {});
