/**
 * A certificate for mail servers of tests, for the address 127.0.0.1 and no name, its own authority, until 2126.
 *
 * Nothing worth keeping: whoever has its key can pretend to be a test.
 */
import { readFileSync } from 'node:fs';

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

export const certificate = { cert: read('certificate.pem'), key: read('certificate-key.pem') };
