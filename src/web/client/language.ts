/** Choosing a language keeps the fragment, which an end-to-end link needs. */
import { find } from './dom.ts';

const choice = find('form.languages', HTMLFormElement);
if (choice !== null) choice.action += location.hash;
