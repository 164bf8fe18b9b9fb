/**
 * A certificate for test mail servers, for the address 127.0.0.1 and no name; it is its own authority, valid until
 * 2126.
 *
 * The key is not a secret: it only lets someone pose as a test.
 */
import { readFileSync } from 'node:fs';

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

export const certificate = { cert: read('certificate.pem'), key: read('certificate-key.pem') };
