/** Which settings a text names that Mayfly does not have. */
import { definitionList } from '../../src/config/settings.ts';

const known = new Set(
  definitionList.flatMap(([, { env, kind }]) => (kind.isSecret ? [env, `${env}_FILE`] : [env])),
);

/** @param others names that something else reads */
export function unknownSettingsIn(text: string, others: readonly string[] = []): string[] {
  const names = [...text.matchAll(/\bMAYFLY_[A-Z_0-9]+/g)].map(([name]) => name);
  return names.filter((name) => !known.has(name) && !others.includes(name));
}
