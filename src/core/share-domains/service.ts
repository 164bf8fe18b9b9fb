/**
 * Share domains: ports bound to use cases. What API v2 and the pages of domains call.
 *
 * Owns: registering, checking, changing and removing a domain, and whose face a host has. Invariants: a name is kept and
 * compared in one spelling; one check of a domain runs at a time; a host that cannot be a domain costs no look-up.
 */
import type { RandomBytes } from '../../crypto/random.ts';
import type { AccountCaller, AccountId } from '../accounts/accounts.ts';
import type { Events } from '../events.ts';
import type { Plans } from '../plans.ts';
import type { DomainStore } from '../ports.ts';
import type { UnixSeconds } from '../time.ts';
import { changeBrand } from './brand.ts';
import { createDomainChecks, type Resolver } from './check.ts';
import type {
  AddDomainOutcome,
  BrandChanges,
  BrandOutcome,
  BrandRules,
  DomainFace,
  DomainService,
  LogoOutcome,
  ParseDomainName,
} from './outcomes.ts';
import { hostNameOf, type StoredDomain } from './share-domains.ts';
import { createDomainViews, type DomainViews } from './view.ts';

export interface DomainServiceDeps {
  readonly store: DomainStore & { now(): UnixSeconds };
  readonly resolver: Resolver;
  readonly random: RandomBytes;
  readonly parseName: ParseDomainName;
  readonly rules: BrandRules;
  readonly plans: Plans;
  readonly siteHost: string;
  /** The host name that domains must lead to. */
  readonly target: string;
  /** The languages offered. */
  readonly locales: readonly string[];
  readonly events: Events;
}

const challengeBytes = 16;
/** What a `Host` or a path may name as a domain: ASCII form, two labels or more, the last no number. */
const hostForm =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What `parseLogo` names its files: a hash and an extension. */
const logoNameForm = /^[\w-]{8,128}\.[a-z]{3,4}$/;

const unknown = { outcome: 'unknown' } as const;

/** The one spelling of a name of any spelling; `null` when no domain can have it. */
async function spell(parseName: ParseDomainName, text: string): Promise<string | null> {
  const parsed = await parseName(text);
  if ('name' in parsed) return parsed.name;
  // What the operator added, or a list of suffixes has swallowed since, is still somebody's.
  const host = hostNameOf(text);
  return hostForm.test(host) ? host : null;
}

interface Bound extends DomainServiceDeps {
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

/** The domain as it now is, for an answer that says it was changed. */
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
  // An account that was deleted meanwhile has no plan.
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

/** Runs for every page that is asked for on another host: the form is looked at before the store is. */
async function findVerified({ store, siteHost }: Bound, host: string): Promise<StoredDomain | null> {
  const name = hostNameOf(host);
  return name === siteHost || !hostForm.test(name) ? null : store.findVerifiedDomain(name);
}

function toFace({ name, brand, logoName }: StoredDomain): DomainFace {
  return { name, brand, logoName };
}

export function createDomainService(ports: DomainServiceDeps): DomainService {
  const deps: Bound = { ...ports, views: createDomainViews(ports) };
  const { store, views, plans } = deps;
  const checks = createDomainChecks(ports);
  return {
    list: async ({ account }) => Promise.all((await store.listDomains(account.id)).map(views.viewOf)),
    maxDomains: ({ account }) => plans[account.plan].maxDomains,
    add: (caller, name) => add(deps, caller, name),
    find: async ({ account }, name) => {
      const domain = await findOwn(deps, account.id, name);
      return domain === null ? unknown : { outcome: 'found', domain: await views.viewOf(domain) };
    },
    verify: async ({ account }, name) => {
      const domain = await findOwn(deps, account.id, name);
      const checked = domain === null ? null : await checks.check(domain);
      if (checked === null) return unknown;
      return checked === 'taken'
        ? { outcome: 'taken' }
        : { outcome: 'checked', domain: await views.viewOf(checked) };
    },
    remove: async ({ account }, text) => {
      const domain = await findOwn(deps, account.id, text);
      const isRemoved = domain !== null && (await store.removeDomain(account.id, domain.name));
      return { outcome: isRemoved ? 'removed' : 'unknown' };
    },
    setBrand: (caller, name, changes) => setBrand(deps, caller, name, changes),
    setLogo: (caller, name, bytes) => setLogo(deps, caller, name, bytes),
    findLogo: async (logoName) => (logoNameForm.test(logoName) ? store.findDomainLogo(logoName) : null),
    faceOf: async (host) => {
      const domain = await findVerified(deps, host);
      return domain === null ? null : toFace(domain);
    },
    isVerified: async (name) => (await findVerified(deps, name)) !== null,
    checkDue: (until) => checks.checkDue(until),
  };
}
