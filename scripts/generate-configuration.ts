/**
 * Writes docs/configuration.md from the table of settings.
 *
 * Owns: the file. A test holds it to being up to date.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderReference } from '../src/config/reference.ts';

writeFileSync(join(import.meta.dir, '..', 'docs', 'configuration.md'), renderReference());
