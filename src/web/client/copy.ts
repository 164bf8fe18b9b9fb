import { beginCopying } from './copying.ts';

beginCopying();
