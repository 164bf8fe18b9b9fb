/** Plans: how large a value may be and how long it may live. */
export type PlanName = 'anonymous' | 'basic' | 'identity';

export interface Plan {
  /** Bytes of UTF-8. */
  readonly maxValueBytes: number;
  /** For an end-to-end secret: bytes of the text, or of the file with its name and media type. */
  readonly maxSealedBytes: number;
  readonly ttlMinSeconds: number;
  readonly ttlDefaultSeconds: number;
  readonly ttlMaxSeconds: number;
  /** How many share domains an account may register. */
  readonly maxDomains: number;
  /** How many answers an account's open requests may take together, or a request without an account alone. */
  readonly maxPlaces: number;
}

export type Plans = Readonly<Record<PlanName, Plan>>;

export const builtInPlans: Plans = {
  anonymous: {
    maxValueBytes: 10_000,
    maxSealedBytes: 100_000,
    ttlMinSeconds: 60,
    ttlDefaultSeconds: 604_800,
    ttlMaxSeconds: 604_800,
    maxDomains: 0,
    maxPlaces: 1,
  },
  basic: {
    maxValueBytes: 10_000,
    maxSealedBytes: 1_000_000,
    ttlMinSeconds: 60,
    ttlDefaultSeconds: 604_800,
    ttlMaxSeconds: 1_209_600,
    maxDomains: 0,
    maxPlaces: 40,
  },
  identity: {
    maxValueBytes: 10_000,
    maxSealedBytes: 1_000_000,
    ttlMinSeconds: 60,
    ttlDefaultSeconds: 604_800,
    ttlMaxSeconds: 2_592_000,
    maxDomains: 20,
    maxPlaces: 40,
  },
};

/** Returns the requested lifetime, or the nearest that the plan allows; `null` requests the plan's default. */
export function grantTtl(plan: Plan, askedSeconds: number | null): number {
  if (askedSeconds === null) return plan.ttlDefaultSeconds;
  return Math.min(Math.max(askedSeconds, plan.ttlMinSeconds), plan.ttlMaxSeconds);
}
