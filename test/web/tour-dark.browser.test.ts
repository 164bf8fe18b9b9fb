/** Every page in every state, on a small dark screen: usable by everybody, within its policy, with nothing kept or fetched elsewhere. */
import { testTour } from './tour-check.ts';

testTour({ scheme: 'dark', width: 320, timezoneId: 'Europe/Berlin' });
