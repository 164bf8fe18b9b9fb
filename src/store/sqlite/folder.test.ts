import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreRefusal } from '../store.ts';
import { prepareFolder } from './files.ts';

let parent = '';

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'mayfly-'));
});

afterEach(() => rmSync(parent, { recursive: true, force: true }));

function refusalOf(deed: () => unknown): StoreRefusal | null {
  try {
    deed();
    return null;
  } catch (error) {
    if (error instanceof StoreRefusal) return error;
    throw error;
  }
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('the data folder', () => {
  it('is made for its user alone', () => {
    const folder = prepareFolder(join(parent, 'a', 'data'));
    expect(modeOf(folder.directory)).toBe(0o700);
    expect(modeOf(folder.database)).toBe(0o600);
  });

  it('is made so whatever the process’s umask', () => {
    const umask = process.umask(0);
    try {
      const folder = prepareFolder(join(parent, 'data'));
      expect([modeOf(folder.directory), modeOf(folder.database)]).toEqual([0o700, 0o600]);
    } finally {
      process.umask(umask);
    }
  });

  it('P5: is refused when the database has gone and its log has stayed, and is left as it is', () => {
    const log = join(parent, 'mayfly.db-wal');
    writeFileSync(log, 'the latest secrets');
    const refusal = refusalOf(() => prepareFolder(parent));
    expect(refusal?.reason).toBe('damaged');
    expect(refusal?.message).toContain('mayfly.db-wal');
    expect(readdirSync(parent)).toEqual(['mayfly.db-wal']);
    rmSync(log);
    expect(existsSync(prepareFolder(parent).database)).toBe(true);
  });

  const onLinux = process.platform === 'linux';
  const networks = [
    ['NFS', 0x6969],
    ['CIFS', 0xff534d42 | 0],
    ['SMB 2', 0xfe534d42],
    ['FUSE', 0x65735546],
    ['SMB', 0x517b],
    ['9P', 0x01021997],
    ['Ceph', 0x00c36400],
    ['AFS', 0x5346414f],
    ['Coda', 0x73757245],
    ['NCP', 0x564c],
    ['Lustre', 0x0bd00bd0],
    ['GPFS', 0x47504653],
    ['OCFS2', 0x7461636f],
    ['GFS2', 0x01161970],
  ] as const;
  for (const [name, type] of onLinux ? networks : []) {
    it(`P25: is refused on ${name}`, () => {
      const refusal = () => prepareFolder(join(parent, 'data'), () => type);
      expect(refusal).toThrow(StoreRefusal);
      expect(refusal).toThrow(name);
    });
  }

  it('P25: is accepted on ext4, xfs, btrfs and tmpfs', () => {
    for (const type of [0xef53, 0x58465342, 0x9123683e | 0, 0x01021994]) {
      expect(prepareFolder(join(parent, 'data'), () => type).directory).toBe(join(parent, 'data'));
    }
  });

  it('P25: is refused with a sentence when something else has its name', () => {
    writeFileSync(join(parent, 'data'), '');
    expect(() => prepareFolder(join(parent, 'data'))).toThrow('cannot be written');
  });
});
