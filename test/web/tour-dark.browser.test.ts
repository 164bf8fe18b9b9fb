/**
 * Every page in every state, on a small dark screen: usable by everyone, within its policy, with nothing stored or
 * loaded from elsewhere.
 */
import { testTour } from './tour-check.ts';

testTour({ scheme: 'dark', width: 320, timezoneId: 'Europe/Berlin' });
