/**
 * Every page in every state, in Arabic, from right to left: usable by everyone, within its policy, with nothing stored
 * or loaded from elsewhere.
 */
import { testTour } from './tour-check.ts';

testTour({ scheme: 'light', width: 320, locale: 'ar', timezoneId: 'Asia/Tokyo' });
