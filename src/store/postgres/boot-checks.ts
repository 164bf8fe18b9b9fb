/**
 * The conditions for trusting a server (P25), checked at startup and on every reconnection, because the address may
 * have moved to another server. A commit decides a claim, so it must be durable on every server that may take over:
 * this one alone (`single`), a standby as well (`synchronous`), or, if the operator vouches for the engine, wherever
 * that engine keeps commits (`engine`).
 */
import { StoreRefusal } from '../store.ts';
import { migrations } from './migrate.ts';

export const durabilities = ['single', 'synchronous', 'engine'] as const;
export type Durability = (typeof durabilities)[number];

export interface EngineDemands {
  /** `null` means `synchronous` if the server names standbys; otherwise the operator must choose. */
  readonly durability: Durability | null;
  readonly connections: number;
  readonly allowsUnsafe: boolean;
}

export interface CheckedEngine {
  readonly durability: Durability;
  /** Unsafe settings that were allowed, each as a sentence for the operator. */
  readonly unsafe: readonly string[];
}

export type AskEngine = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;

/** A setting is `null` if the engine lacks it. */
export interface EngineFacts {
  readonly version: number;
  readonly isStandby: boolean;
  readonly encoding: string | null;
  readonly fsync: string | null;
  readonly fullPageWrites: string | null;
  readonly synchronousCommit: string | null;
  readonly standbyNames: string | null;
  readonly isolation: string | null;
  readonly readOnly: string | null;
  readonly logStatement: string | null;
  readonly logMinDuration: string | null;
  readonly logMinDurationSample: string | null;
  readonly logTransactionSampleRate: string | null;
  readonly logParameters: string | null;
  readonly logParametersOnError: string | null;
  /** `null` unless auto_explain is loaded, because its settings alone log nothing. */
  readonly explainMinDuration: string | null;
  readonly maxConnections: number | null;
  readonly unloggedTables: readonly string[];
  /** For each schema on the search path where another role may create objects, the SQL that prevents it. */
  readonly openSchemas: readonly string[];
  /** Other roles' objects in Mayfly's schema, each with its owner. */
  readonly foreignObjects: readonly string[];
}

/**
 * Through a pooler, the role's default search path applies; otherwise the path contains only the engine's own
 * schemas. Superusers may do anything, so they are left out.
 */
const selectOpenSchemas = `
      SELECT CASE WHEN may.role = n.nspowner THEN format('ALTER SCHEMA %I OWNER TO %I;', n.nspname, current_user)
        ELSE format('REVOKE CREATE ON SCHEMA %I FROM %s;', n.nspname, coalesce(quote_ident(r.rolname), 'PUBLIC')) END
      FROM pg_namespace n CROSS JOIN LATERAL (
        SELECT a.grantee FROM aclexplode(n.nspacl) a WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
        UNION SELECT n.nspowner WHERE n.nspname = 'mayfly_store') AS may (role)
      LEFT JOIN pg_roles r ON r.oid = may.role
      WHERE (n.nspname = 'mayfly_store' OR n.nspname = ANY (current_schemas(false)))
        AND (r.rolsuper OR r.rolname = current_user) IS NOT TRUE`;

const selectForeignObjects = `
      SELECT format('%s %s of %I', o.type, o.identity, r.rolname)
      FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid
        CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) o
      WHERE d.deptype = 'o' AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND NOT r.rolsuper AND r.rolname <> current_user AND o.schema = 'mayfly_store'`;

const selectFacts = `
  SELECT current_setting('server_version_num')::int AS version,
    pg_is_in_recovery() AS "isStandby",
    current_setting('server_encoding', true) AS encoding,
    current_setting('fsync', true) AS fsync,
    current_setting('full_page_writes', true) AS "fullPageWrites",
    current_setting('synchronous_commit', true) AS "synchronousCommit",
    current_setting('synchronous_standby_names', true) AS "standbyNames",
    current_setting('default_transaction_isolation', true) AS isolation,
    current_setting('default_transaction_read_only', true) AS "readOnly",
    current_setting('log_statement', true) AS "logStatement",
    current_setting('log_min_duration_statement', true) AS "logMinDuration",
    current_setting('log_min_duration_sample', true) AS "logMinDurationSample",
    current_setting('log_transaction_sample_rate', true) AS "logTransactionSampleRate",
    current_setting('log_parameter_max_length', true) AS "logParameters",
    current_setting('log_parameter_max_length_on_error', true) AS "logParametersOnError",
    (SELECT setting FROM pg_settings WHERE name = 'auto_explain.log_min_duration') AS "explainMinDuration",
    current_setting('max_connections', true)::int
      - coalesce(current_setting('superuser_reserved_connections', true)::int, 0)
      - coalesce(current_setting('reserved_connections', true)::int, 0) AS "maxConnections",
    ARRAY(
      SELECT relname::text FROM pg_class
      WHERE relpersistence = 'u' AND relname = ANY($1) AND relnamespace = to_regnamespace('mayfly_store')
    ) AS "unloggedTables",
    ARRAY(${selectOpenSchemas}) AS "openSchemas",
    ARRAY(${selectForeignObjects}) AS "foreignObjects"`;

/** Leaves out programs that only archive the log, and logical subscribers, which are never promoted. */
const selectFollowers = `
  SELECT coalesce(application_name, '') AS name FROM pg_stat_replication
  WHERE application_name NOT IN ('pg_receivewal', 'pg_basebackup', 'barman_receive_wal')
    AND pid NOT IN (SELECT active_pid FROM pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL)`;

/** Tables that must survive a crash; the migrations create all others as UNLOGGED. */
const loggedTables = migrations.flatMap((text) =>
  [...text.matchAll(/^CREATE TABLE mayfly_store\.(\w+)/gm)].map(([, name = '']) => name),
);

const oldestVersion = 140_000;

function obstaclesOf(facts: EngineFacts, { connections }: EngineDemands): string[] {
  const { version, isStandby, encoding, isolation, readOnly, maxConnections } = facts;
  return [
    version < oldestVersion &&
      `The server is PostgreSQL ${Math.floor(version / 10_000)}: Mayfly needs version 14 or later.`,
    isStandby &&
      'The address leads to a standby, which decides nothing: let MAYFLY_STORE name the primary, by an address that follows a failover.',
    encoding !== null &&
      encoding !== 'UTF8' &&
      `The database has the encoding ${encoding}: create one with ENCODING 'UTF8'.`,
    isolation !== null &&
      isolation !== 'read committed' &&
      `default_transaction_isolation is "${isolation}": set it to "read committed" for this role.`,
    !isStandby &&
      readOnly === 'on' &&
      'default_transaction_read_only is on, so nothing can be stored: set it to off for this role.',
    maxConnections !== null &&
      maxConnections < connections &&
      `The server allows ${maxConnections} connections and this node alone may need ${connections}: raise max_connections, or lower MAYFLY_STORE_POOL_SIZE.`,
  ].filter((problem) => problem !== false);
}

function crashProblems(facts: EngineFacts, durability: Durability): string[] {
  const { fsync, fullPageWrites, synchronousCommit, unloggedTables } = facts;
  const isOwnDisk = durability !== 'engine';
  return [
    isOwnDisk &&
      fsync !== 'on' &&
      'fsync is off, so a crash brings back secrets that were read: set fsync=on.',
    isOwnDisk &&
      fullPageWrites !== 'on' &&
      'full_page_writes is off, so a crash can leave torn pages: set full_page_writes=on.',
    synchronousCommit === 'off' &&
      'synchronous_commit is off, so a crash brings back secrets that were read: set synchronous_commit=on.',
    unloggedTables.length > 0 &&
      `A crash empties what is UNLOGGED: run ${unloggedTables.map((name) => `ALTER TABLE mayfly_store.${name} SET LOGGED;`).join(' ')}`,
  ].filter((problem) => problem !== false);
}

/** Another role's objects in place of ours would run with Mayfly's rights. */
function schemaProblems({ openSchemas, foreignObjects }: EngineFacts): string[] {
  return [
    openSchemas.length > 0 &&
      `Another role may create tables and functions that would be taken for Mayfly’s: run ${openSchemas.join(' ')}`,
    foreignObjects.length > 0 &&
      `Others own what is in Mayfly’s schema (${foreignObjects.join(', ')}): drop it if it is not Mayfly’s, else ALTER it with OWNER TO Mayfly’s user.`,
  ].filter((problem) => problem !== false);
}

const waitingForDisk = ['on', 'remote_apply'];

function failoverProblems(
  facts: EngineFacts,
  followers: readonly string[],
  durability: Durability,
): string[] {
  const names = facts.standbyNames ?? '';
  switch (durability) {
    case 'engine':
      return [];
    case 'single':
      return [
        names !== '' &&
          `MAYFLY_STORE_DURABILITY is single, and the server names standbys (synchronous_standby_names is "${names}"): set it to synchronous, or leave it out.`,
        names === '' &&
          followers.length > 0 &&
          `MAYFLY_STORE_DURABILITY is single, and a standby follows the server (${followers.map((name) => JSON.stringify(name)).join(', ')}). Promoted, it would bring back secrets that were read: name it in synchronous_standby_names and set MAYFLY_STORE_DURABILITY=synchronous.`,
      ].filter((problem) => problem !== false);
    case 'synchronous':
      return [
        names === '' &&
          'The server waits for no standby (synchronous_standby_names is empty), so a failover brings back secrets that were read: set it to "FIRST 1 (NAME)" with the standby’s application_name. With Patroni, set synchronous_mode and synchronous_mode_strict.',
        names !== '' &&
          !waitingForDisk.includes(facts.synchronousCommit ?? '') &&
          facts.synchronousCommit !== 'off' &&
          `synchronous_commit is ${facts.synchronousCommit}, which does not wait until the standby has a commit on its disk: set synchronous_commit=on.`,
      ].filter((problem) => problem !== false);
  }
}

/** Parameters include email addresses, token hashes and ciphertext (P18). */
function logProblems(facts: EngineFacts): string[] {
  const reasons = [
    facts.logStatement !== null &&
      ['mod', 'all'].includes(facts.logStatement) &&
      `log_statement is ${facts.logStatement}`,
    isOn(facts.logMinDuration) && `log_min_duration_statement is ${facts.logMinDuration}`,
    isOn(facts.logMinDurationSample) && `log_min_duration_sample is ${facts.logMinDurationSample}`,
    ![null, '0'].includes(facts.logTransactionSampleRate) &&
      `log_transaction_sample_rate is ${facts.logTransactionSampleRate}`,
  ].filter((reason) => reason !== false);
  const logsParameters = ![null, '0'].includes(facts.logParameters);
  return [
    logsParameters &&
      reasons.length > 0 &&
      `The server writes parameters of statements to its log, e-mail addresses among them (${reasons.join(', ')}): set log_parameter_max_length=0.`,
    ![null, '0'].includes(facts.logParametersOnError) &&
      'The server writes parameters of failed statements to its log, e-mail addresses among them: set log_parameter_max_length_on_error=0.',
    isOn(facts.explainMinDuration) &&
      // A logged plan's conditions contain the parameters.
      'auto_explain writes plans to the server’s log, with values in them: run ALTER ROLE … SET auto_explain.log_min_duration = -1 for this role.',
  ].filter((problem) => problem !== false);
}

/** `-1` turns the setting off. */
const isOn = (minDuration: string | null): boolean => minDuration !== null && minDuration !== '-1';

const undeclared =
  'The server names no synchronous standby, so Mayfly cannot tell what a failover would keep. Set MAYFLY_STORE_DURABILITY: ' +
  'single for one server that nothing takes over for; synchronous once synchronous_standby_names names a standby; engine for a ' +
  'managed or distributed engine that keeps every acknowledged commit through its own failovers.';

function durabilityOf(facts: EngineFacts, asked: Durability | null): Durability | null {
  return asked ?? ((facts.standbyNames ?? '') === '' ? null : 'synchronous');
}

export function judgeEngine(
  facts: EngineFacts,
  followers: readonly string[],
  demands: EngineDemands,
): { readonly durability: Durability | null; readonly obstacles: string[]; readonly unsafe: string[] } {
  const durability = durabilityOf(facts, demands.durability);
  const obstacles = obstaclesOf(facts, demands);
  // A standby's settings say nothing about its primary's.
  if (facts.isStandby) return { durability, obstacles, unsafe: [] };
  if (durability === null) return { durability, obstacles: [...obstacles, undeclared], unsafe: [] };
  const unsafe = [
    ...crashProblems(facts, durability),
    ...failoverProblems(facts, followers, durability),
    ...logProblems(facts),
    ...schemaProblems(facts),
  ];
  return { durability, obstacles, unsafe };
}

/** Rejects with a `StoreRefusal` that lists every obstacle, or with the driver's error. */
export async function checkEngine(ask: AskEngine, demands: EngineDemands): Promise<CheckedEngine> {
  const [facts] = (await ask(selectFacts, [loggedTables])) as EngineFacts[];
  if (facts === undefined) throw new StoreRefusal('unsafe_setting', 'The server does not say how it is set.');
  const mayHaveFollowers = durabilityOf(facts, demands.durability) === 'single';
  const followers = mayHaveFollowers ? ((await ask(selectFollowers, [])) as { name: string }[]) : [];
  const names = followers.map(({ name }) => name);
  const { durability, obstacles, unsafe } = judgeEngine(facts, names, demands);
  const refused = demands.allowsUnsafe ? obstacles : [...obstacles, ...unsafe];
  if (durability !== null && refused.length === 0) return { durability, unsafe };
  const canBeAllowed = obstacles.length === 0;
  const allowing = 'To run on it all the same, set MAYFLY_ALLOW_UNSAFE_STORE=on.';
  const reason = facts.isStandby && obstacles.length === 1 ? 'standby' : 'unsafe_setting';
  throw new StoreRefusal(reason, [...refused, ...(canBeAllowed ? [allowing] : [])].join('\n'));
}
