/** Every page in every state, wide and light: usable by everybody, within its policy, with nothing kept or fetched elsewhere. */
import { testTour } from './tour-check.ts';

testTour({ scheme: 'light', width: 1_600, timezoneId: 'Asia/Tokyo' });
