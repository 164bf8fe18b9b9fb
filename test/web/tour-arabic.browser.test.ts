/** Every page in every state, in Arabic, from right to left: usable by everybody, within its policy, with nothing kept or fetched elsewhere. */
import { testTour } from './tour-check.ts';

testTour({ scheme: 'light', width: 320, locale: 'ar', timezoneId: 'Asia/Tokyo' });
