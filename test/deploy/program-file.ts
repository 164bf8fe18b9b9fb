/** What system an executable is for, from its header, and whose native part it holds. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const elfMachines: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };
const machMachines: Readonly<Record<number, string>> = { 16777223: 'x64', 16777228: 'arm64' };
const peMachines: Readonly<Record<number, string>> = { 34404: 'x64', 43620: 'arm64' };

/** The program that loads an ELF file, which says whose libc it needs (elf(5), PT_INTERP). */
function interpreterOf(bytes: Buffer): string {
  const [start, size, count] = [
    Number(bytes.readBigUInt64LE(32)),
    bytes.readUInt16LE(54),
    bytes.readUInt16LE(56),
  ];
  for (let at = start; at < start + size * count; at += size) {
    if (bytes.readUInt32LE(at) !== 3) continue;
    const offset = Number(bytes.readBigUInt64LE(at + 8));
    return bytes.toString('latin1', offset, bytes.indexOf(0, offset));
  }
  return '';
}

/** As `scripts/targets.mjs` names it. */
export function systemOf(path: string): string {
  const bytes = Buffer.alloc(65_536);
  const file = openSync(path, 'r');
  readSync(file, bytes);
  closeSync(file);
  if (bytes.toString('latin1', 0, 4) === '\x7fELF') {
    const libc = interpreterOf(bytes).includes('musl') ? '-musl' : '';
    return `linux-${elfMachines[bytes.readUInt16LE(18)]}${libc}`;
  }
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return `darwin-${machMachines[bytes.readUInt32LE(4)]}`;
  if (bytes.toString('latin1', 0, 2) === 'MZ')
    return `windows-${peMachines[bytes.readUInt16LE(bytes.readUInt32LE(60) + 4)]}`;
  return 'unknown';
}

/** The native parts in it, by the end of their package's name: one for an executable that works. */
export function nativePartsOf(path: string): string[] {
  const names = readFileSync(path, 'latin1').matchAll(/root\/argon2\.([a-z0-9]+(?:-[a-z0-9]+)*)\.node/g);
  return [...new Set([...names].map(([, name = '']) => name))];
}
