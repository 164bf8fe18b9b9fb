/** What a setting is: a sentence, a kind, a default, a variable. */
import type { Region, RegionLabel } from '../core/keys.ts';
import type { Kind } from './kinds.ts';

/** The settings that the defaults of others depend on. */
export interface Others {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly region: RegionLabel | null;
  readonly regions: readonly Region[];
}

interface Entry<T> {
  readonly env: string;
  /** One sentence. */
  readonly doc: string;
  readonly kind: Kind<T>;
  readonly default: NoInfer<T> | ((others: Others) => NoInfer<T>);
  readonly reader: 'server' | 'router' | 'server and router' | 'commands';
}

export interface Definition<T> extends Entry<T> {
  /** As the reference shows it. */
  readonly defaultText: string;
  readonly defaultFor: (others: Others) => T;
}

type Constant<T> = Entry<T> & { readonly default: NoInfer<T>; readonly defaultText?: string };
type Derived<T> = Entry<T> & {
  readonly default: (others: Others) => NoInfer<T>;
  readonly defaultText: string;
};

export function setting<T>(entry: Constant<T> | Derived<T>): Definition<T> {
  const { default: byDefault } = entry;
  if (typeof byDefault === 'function')
    return { ...entry, defaultText: entry.defaultText ?? '', defaultFor: byDefault as Derived<T>['default'] };
  return {
    ...entry,
    defaultText: entry.defaultText ?? entry.kind.show(byDefault, null),
    defaultFor: () => byDefault,
  };
}
