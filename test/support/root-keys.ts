import { type NewRootDeps, prepareRootKeys, type RootKeysReading } from '../../src/ops/root-key-file.ts';

/** Makes a key file with one fresh root, unless there is one. */
export function makeRootKeys(path: string, deps: NewRootDeps): RootKeysReading {
  const prepared = prepareRootKeys(path, deps);
  return prepared.outcome === 'refused' ? prepared : prepared.place();
}
