/**
 * Share domains, for API v2 and the pages. Another account's domain gets exactly the same answer as an unknown one, except that a name
 * verified by another account is reported as taken. Names are stored and compared in one spelling.
 */

import type { AccountCaller, AccountId } from '../account.ts';
import type { Core } from '../ports/core.ts';
import {
  type BrandChanges,
  type BrandCore,
  type BrandProblem,
  canBeShareDomain,
  changeBrand,
  type DomainLogo,
  type DomainName,
  type DomainNameProblem,
  hostNameOf,
  type LogoProblem,
  type ParseDomainName,
  type StoredDomain,
} from '../share-domain.ts';
import type { UnixSeconds } from '../time.ts';
import { type CheckCore, createDomainChecks, txtHostOf } from './check.ts';
import { findVerified } from './choose.ts';

type Kept = 'state' | 'finding' | 'checkedAt' | 'createdAt' | 'updatedAt' | 'brand' | 'logoName';

export interface DomainView extends DomainName, Pick<StoredDomain, Kept> {
  /** `null` if the operator added the domain. */
  readonly txtRecord: { readonly host: string; readonly value: string } | null;
  /** Where the name must point: a CNAME to this host or, for a base domain, A and AAAA records with its addresses. */
  readonly target: { readonly host: string; readonly addresses: readonly string[] };
}

interface Unknown {
  readonly outcome: 'unknown';
}

interface Of<Outcome> {
  readonly outcome: Outcome;
  readonly domain: DomainView;
}

export type AddDomainOutcome =
  | Of<'added'>
  | { readonly outcome: 'invalid_domain'; readonly problem: DomainNameProblem }
  | { readonly outcome: 'exists' }
  /** Another account has verified it. */
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'too_many'; readonly max: number }
  | { readonly outcome: 'plan_required' };

/** Of a check, `domain.finding` names what is missing. */
type VerifyOutcome = Of<'checked'> | { readonly outcome: 'taken' } | Unknown;

export type BrandOutcome =
  | Of<'saved'>
  | { readonly outcome: 'invalid'; readonly problems: readonly BrandProblem[] }
  | Unknown;

export type LogoOutcome =
  | Of<'saved'>
  | { readonly outcome: 'invalid'; readonly problem: LogoProblem; readonly maxBytes: number }
  | Unknown;

export type BrandedDomain = Pick<StoredDomain, 'name' | 'brand' | 'logoName'>;

export interface DomainCore extends CheckCore, BrandCore, Pick<Core, 'random' | 'plans'> {
  readonly parseName: ParseDomainName;
  readonly siteHost: string;
}

const challengeBytes = 16;
/** Matches names from `parseLogo`: a hash and an extension. */
const logoNameForm = /^[\w-]{8,128}\.[a-z]{3,4}$/;

const unknown: Unknown = { outcome: 'unknown' };

/** Returns a name's canonical spelling, or `null` if it cannot be a share domain. */
async function spell(parseName: ParseDomainName, text: string): Promise<string | null> {
  const parsed = await parseName(text);
  if ('name' in parsed) return parsed.name;
  // The operator added this name, or it became a public suffix only later: either way, it still has an owner.
  const host = hostNameOf(text);
  return canBeShareDomain(host) ? host : null;
}

interface DomainViews {
  /** Never fails because of the DNS: omits addresses that it cannot find. */
  viewOf(domain: StoredDomain): Promise<DomainView>;
}

/** The target's addresses change rarely, but every page of domains shows them. */
const addressesKeptSeconds = 60;

function createTargetAddresses({ store, resolver, target }: DomainCore): () => Promise<readonly string[]> {
  let kept: { readonly at: UnixSeconds; readonly addresses: Promise<readonly string[]> } | null = null;
  const ask = async () => {
    const answer = await resolver.addresses(target);
    return answer.outcome === 'found' ? answer.values : [];
  };
  return () => {
    const now = store.now();
    if (kept === null || now - kept.at >= addressesKeptSeconds) kept = { at: now, addresses: ask() };
    return kept.addresses;
  };
}

/** Splits a name without a known suffix, which only an operator can add: all of it is the base domain. */
function wholeName(name: string): DomainName {
  const publicSuffix = name.slice(name.lastIndexOf('.') + 1);
  return { name, unicodeName: name, baseDomain: name, subdomain: '', publicSuffix };
}

function createDomainViews(deps: DomainCore): DomainViews {
  const addressesOfTarget = createTargetAddresses(deps);
  return {
    async viewOf(domain) {
      const { name, state, challenge, finding, checkedAt, createdAt, updatedAt, brand, logoName } = domain;
      const [parsed, addresses] = await Promise.all([deps.parseName(name), addressesOfTarget()]);
      const { unicodeName, baseDomain, subdomain, publicSuffix } =
        'name' in parsed ? parsed : wholeName(name);
      return {
        ...{ name, unicodeName, baseDomain, subdomain, publicSuffix, state },
        txtRecord: challenge === null ? null : { host: txtHostOf(name, challenge), value: challenge },
        target: { host: deps.target, addresses },
        ...{ finding, checkedAt, createdAt, updatedAt, brand, logoName },
      };
    },
  };
}

interface Bound extends DomainCore {
  readonly views: DomainViews;
}

async function findOwn(
  { store, parseName }: Bound,
  id: AccountId,
  text: string,
): Promise<StoredDomain | null> {
  const name = await spell(parseName, text);
  return name === null ? null : store.findDomain(id, name);
}

async function savedDomain(deps: Bound, id: AccountId, name: string): Promise<BrandOutcome & LogoOutcome> {
  const stored = await deps.store.findDomain(id, name);
  return stored === null ? unknown : { outcome: 'saved', domain: await deps.views.viewOf(stored) };
}

async function add(deps: Bound, { account }: AccountCaller, text: string): Promise<AddDomainOutcome> {
  const { store, parseName, plans, random, views } = deps;
  const { maxDomains } = plans[account.plan];
  if (maxDomains === 0) return { outcome: 'plan_required' };
  const parsed = await parseName(text);
  if ('problem' in parsed) return { outcome: 'invalid_domain', problem: parsed.problem };
  const challenge = Buffer.from(random(challengeBytes)).toString('hex');
  const added = await store.addDomain(
    { accountId: account.id, name: parsed.name, state: 'unverified', challenge, createdAt: store.now() },
    maxDomains,
  );
  if (added === 'too_many') return { outcome: 'too_many', max: maxDomains };
  // The account has been deleted, so it has no plan.
  if (added === 'gone') return { outcome: 'plan_required' };
  if (added !== 'added') return { outcome: added };
  const stored = await store.findDomain(account.id, parsed.name);
  if (stored === null) return { outcome: 'plan_required' };
  return { outcome: 'added', domain: await views.viewOf(stored) };
}

async function setBrand(
  deps: Bound,
  { account: { id } }: AccountCaller,
  text: string,
  changes: BrandChanges,
): Promise<BrandOutcome> {
  const domain = await findOwn(deps, id, text);
  if (domain === null) return unknown;
  const changed = changeBrand(deps, domain.brand, changes);
  if ('problems' in changed) return { outcome: 'invalid', problems: changed.problems };
  const isSet = await deps.store.setDomainBrand(id, domain.name, changed.brand);
  return isSet ? savedDomain(deps, id, domain.name) : unknown;
}

async function setLogo(
  deps: Bound,
  { account: { id } }: AccountCaller,
  text: string,
  bytes: Uint8Array | null,
): Promise<LogoOutcome> {
  const { store, rules } = deps;
  const domain = await findOwn(deps, id, text);
  if (domain === null) return unknown;
  const isTooLarge = bytes !== null && bytes.length > rules.maxLogoBytes;
  if (isTooLarge) return { outcome: 'invalid', problem: 'too_large', maxBytes: rules.maxLogoBytes };
  const logo = bytes === null ? null : rules.parseLogo(bytes);
  if (logo !== null && 'problem' in logo)
    return { outcome: 'invalid', ...logo, maxBytes: rules.maxLogoBytes };
  const isSet = await store.setDomainLogo(id, domain.name, logo);
  return isSet ? savedDomain(deps, id, domain.name) : unknown;
}

function toBranded({ name, brand, logoName }: StoredDomain): BrandedDomain {
  return { name, brand, logoName };
}

export type DomainService = ReturnType<typeof createDomainService>;

/** Methods reject only with `ServiceError` and accept any spelling of a name. */
export function createDomainService(parts: DomainCore) {
  const core: Bound = { ...parts, views: createDomainViews(parts) };
  const { store, views, plans, siteHost } = core;
  const findOnHost = (host: string) => findVerified(store, siteHost, hostNameOf(host));
  const checks = createDomainChecks(parts);
  return {
    /** Lists domains by name, including those added under an earlier plan that allowed them. */
    list: async ({ account }: AccountCaller): Promise<readonly DomainView[]> =>
      Promise.all((await store.listDomains(account.id)).map(views.viewOf)),
    maxDomains: ({ account }: AccountCaller): number => plans[account.plan].maxDomains,
    add: (caller: AccountCaller, name: string) => add(core, caller, name),
    find: async ({ account }: AccountCaller, name: string): Promise<Of<'found'> | Unknown> => {
      const domain = await findOwn(core, account.id, name);
      return domain === null ? unknown : { outcome: 'found', domain: await views.viewOf(domain) };
    },
    verify: async ({ account }: AccountCaller, name: string): Promise<VerifyOutcome> => {
      const domain = await findOwn(core, account.id, name);
      const checked = domain === null ? null : await checks.check(domain);
      if (checked === null) return unknown;
      return checked === 'taken'
        ? { outcome: 'taken' }
        : { outcome: 'checked', domain: await views.viewOf(checked) };
    },
    remove: async (
      { account }: AccountCaller,
      text: string,
    ): Promise<{ readonly outcome: 'removed' | 'unknown' }> => {
      const domain = await findOwn(core, account.id, text);
      const isRemoved = domain !== null && (await store.removeDomain(account.id, domain.name));
      return { outcome: isRemoved ? 'removed' : 'unknown' };
    },
    setBrand: (caller: AccountCaller, name: string, changes: BrandChanges) =>
      setBrand(core, caller, name, changes),
    /** Sets the logo; `null` removes it. */
    setLogo: (caller: AccountCaller, name: string, bytes: Uint8Array | null) =>
      setLogo(core, caller, name, bytes),
    findLogo: async (logoName: string): Promise<DomainLogo | null> =>
      logoNameForm.test(logoName) ? store.findDomainLogo(logoName) : null,
    /** Finds a domain by host, with or without a port; returns `null` unless it is verified. */
    brandedDomain: async (host: string): Promise<BrandedDomain | null> => {
      const domain = await findOnHost(host);
      return domain === null ? null : toBranded(domain);
    },
    isVerified: async (name: string): Promise<boolean> => (await findOnHost(name)) !== null,
    /** Rechecks domains a day after their last check, until aborted; returns how many it checked. */
    checkDue: (until?: AbortSignal): Promise<number> => checks.checkDue(until),
  };
}
