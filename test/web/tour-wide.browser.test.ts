/**
 * Every page in every state, wide and light: usable by everyone, within its policy, with nothing stored or loaded from
 * elsewhere.
 */
import { testTour } from './tour-check.ts';

testTour({ scheme: 'light', width: 1_600, timezoneId: 'Asia/Tokyo' });
