import type { Region, RegionLabel } from '../core/keys.ts';
import type { Kind } from './kinds.ts';

/** Settings that other settings' defaults depend on. */
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
  readonly doc: string;
  readonly kind: Kind<T>;
  readonly default: NoInfer<T> | ((others: Others) => NoInfer<T>);
  /** Who uses the setting; the server if absent. */
  readonly reader?: Reader;
}

export type Reader = 'server' | 'router' | 'server and router' | 'commands';

export interface Definition<T> extends Entry<T> {
  readonly reader: Reader;
  readonly defaultText: string;
  readonly defaultFor: (others: Others) => T;
}

type Constant<T> = Entry<T> & { readonly default: NoInfer<T>; readonly defaultText?: string };
type Derived<T> = Entry<T> & {
  readonly default: (others: Others) => NoInfer<T>;
  readonly defaultText: string;
};

export function setting<T>(entry: Constant<T> | Derived<T>): Definition<T> {
  const { default: byDefault, defaultText, reader = 'server' } = entry;
  if (typeof byDefault === 'function')
    return {
      ...entry,
      reader,
      defaultText: defaultText ?? '',
      defaultFor: byDefault as Derived<T>['default'],
    };
  const shown = defaultText ?? entry.kind.show(byDefault, null);
  return { ...entry, reader, defaultText: shown, defaultFor: () => byDefault };
}
