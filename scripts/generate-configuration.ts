/** Writes docs/configuration.md from the settings; a test checks that it is up to date. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderReference } from '../src/config/reference.ts';

writeFileSync(join(import.meta.dir, '..', 'docs', 'configuration.md'), renderReference());
