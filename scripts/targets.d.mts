/** The types of what tests use of `targets.mjs`. */
interface Target {
  readonly name: string;
  readonly suffix: string;
  readonly native: string;
}

export declare const targets: readonly Target[];
