/**
 * What an account may do with its share domains, and how each of it can end.
 *
 * Owns: the inputs and outcomes of the domains' pages and of API v2. Invariant: another account's domain answers exactly
 * as an unknown one, except that a name verified for somebody is told to be taken.
 */
import type { AccountCaller } from '../accounts/accounts.ts';
import type { UnixSeconds } from '../time.ts';
import type { DomainBrand, DomainFinding, DomainLogo, DomainState } from './share-domains.ts';

export interface DomainView {
  /** In ASCII form, as it stands in links. */
  readonly name: string;
  /** As people read it. The same as `name` for most. */
  readonly unicodeName: string;
  /** What was registered with a registry: `example.co.uk` of `secrets.example.co.uk`. */
  readonly baseDomain: string;
  /** What stands before it; `''` for the base domain itself. */
  readonly subdomain: string;
  /** The part below which anybody can register: `co.uk`. */
  readonly publicSuffix: string;
  readonly state: DomainState;
  /** `null`: it stands by the operator's word. */
  readonly txtRecord: { readonly host: string; readonly value: string } | null;
  /** Where the name must lead: a CNAME to this host, or (the base domain itself) A and AAAA records with its addresses. */
  readonly target: { readonly host: string; readonly addresses: readonly string[] };
  readonly finding: DomainFinding | null;
  readonly checkedAt: UnixSeconds | null;
  readonly createdAt: UnixSeconds;
  readonly updatedAt: UnixSeconds;
  readonly brand: DomainBrand;
  readonly logoName: string | null;
}

/** A name taken apart by the public suffix list. */
export interface DomainName {
  /** Lower case, in ASCII form. */
  readonly name: string;
  readonly unicodeName: string;
  readonly baseDomain: string;
  readonly subdomain: string;
  readonly publicSuffix: string;
}

export type ParseDomainName = (text: string) => Promise<DomainName | { readonly problem: DomainNameProblem }>;

/** What may be shown: judged where pages are made, because what can be read follows from their paper. */
export interface BrandRules {
  /** The colour itself when it can be read in that scheme, else the nearest that can. `#rrggbb` both. */
  nearestReadable(colour: string, scheme: 'light' | 'dark'): string;
  parseLogo(bytes: Uint8Array): DomainLogo | { readonly problem: LogoProblem };
  readonly maxLogoBytes: number;
}

/** Why a text is no domain that links could be made on. */
export type DomainNameProblem =
  /** Empty. */
  | 'missing'
  /** With a scheme, path, port, user or blank; too long; not a name at all. */
  | 'malformed'
  | 'ip_address'
  /** A name without a public suffix, such as `localhost`, `intranet` or `secrets.local`. */
  | 'not_public'
  /** Anybody can register below it: `co.uk`, `github.io`. */
  | 'public_suffix'
  /** The site's own host. */
  | 'own_host';

export type AddDomainOutcome =
  | { readonly outcome: 'added'; readonly domain: DomainView }
  | { readonly outcome: 'invalid_domain'; readonly problem: DomainNameProblem }
  /** The account has it already. */
  | { readonly outcome: 'exists' }
  /** It is verified for another account. */
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'too_many'; readonly max: number }
  | { readonly outcome: 'plan_required' };

export type DomainOutcome =
  | { readonly outcome: 'found'; readonly domain: DomainView }
  | { readonly outcome: 'unknown' };

export type VerifyOutcome =
  /** What it is now; `domain.finding` says what is missing. */
  | { readonly outcome: 'checked'; readonly domain: DomainView }
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'unknown' };

/** Absent: as it is. `null`: the site's own again. */
export type BrandChanges = { readonly [F in keyof DomainBrand]?: DomainBrand[F] };

export interface BrandProblem {
  readonly field: keyof DomainBrand;
  readonly problem: 'malformed' | 'too_long' | 'unreadable_colour' | 'unknown_locale';
  /** Of an unreadable colour: the nearest that can be read. */
  readonly nearest?: string;
  /** Of a text that is too long. */
  readonly maxLength?: number;
}

export type BrandOutcome =
  | { readonly outcome: 'saved'; readonly domain: DomainView }
  | { readonly outcome: 'invalid'; readonly problems: readonly BrandProblem[] }
  | { readonly outcome: 'unknown' };

export type LogoProblem = 'too_large' | 'unknown_type' | 'unsafe_svg' | 'damaged';

export type LogoOutcome =
  | { readonly outcome: 'saved'; readonly domain: DomainView }
  | { readonly outcome: 'invalid'; readonly problem: LogoProblem; readonly maxBytes: number }
  | { readonly outcome: 'unknown' };

/** How a verified domain looks: what a request that arrives on it is answered with. */
export interface DomainFace {
  readonly name: string;
  readonly brand: DomainBrand;
  readonly logoName: string | null;
}

/** Share domains, ports bound. A method rejects only with `ServiceError`. Names are as given: any spelling of a domain. */
export interface DomainService {
  /** By name; empty without the plan, unless some were registered before. */
  list(caller: AccountCaller): Promise<readonly DomainView[]>;
  /** How many the account's plan allows; 0: none. */
  maxDomains(caller: AccountCaller): number;
  add(caller: AccountCaller, name: string): Promise<AddDomainOutcome>;
  find(caller: AccountCaller, name: string): Promise<DomainOutcome>;
  /** Asks the DNS now. */
  verify(caller: AccountCaller, name: string): Promise<VerifyOutcome>;
  remove(caller: AccountCaller, name: string): Promise<{ readonly outcome: 'removed' | 'unknown' }>;
  setBrand(caller: AccountCaller, name: string, changes: BrandChanges): Promise<BrandOutcome>;
  /** `null` takes it away. */
  setLogo(caller: AccountCaller, name: string, bytes: Uint8Array | null): Promise<LogoOutcome>;
  findLogo(logoName: string): Promise<DomainLogo | null>;
  /** The face of the host that a request names (with a port perhaps); `null` unless it is a verified domain. */
  faceOf(host: string): Promise<DomainFace | null>;
  /** Whether a certificate may be asked for: the name is a verified domain. */
  isVerified(name: string): Promise<boolean>;
  /** Checks what was last checked a day ago or longer, until it is told to stop; how many it checked. */
  checkDue(until?: AbortSignal): Promise<number>;
}
