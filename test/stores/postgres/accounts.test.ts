/**
 * Decisions about an account that meet in the middle, through two nodes on one PostgreSQL: what ends log-ins and tokens ends also
 * those that begin at that moment. Each check is also run on a defect made for it, and must notice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { StoredTicket, TicketLimits } from '../../../src/core/account.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import {
  accountNamed,
  logIn,
  newAccount,
  newPassword,
  newSession,
  newTicket,
  newToken,
  type Person,
  personNamed,
  ticketFor,
} from '../conformance/account-fixtures.ts';
import { countWhere, type Nodes, openNodes, racers } from './two-nodes.ts';

let server: PostgresServer;

beforeAll(async () => {
  // A circle of waits is never resolved, so that none goes unnoticed.
  server = await startPostgres({ config: { deadlock_timeout: "'10min'" } });
});

afterAll(() => server[Symbol.asyncDispose]());

const bytes = (length: number) => new Uint8Array(randomBytes(length));
const username = 'ann@example.org';

type End = (nodes: Nodes, person: Person) => Promise<unknown>;

const change: End = ({ other }, { account, password }) =>
  other.changePassword(account.id, password.verifier, newPassword(), 0, 'revoke');

const reset: End = async ({ one, other }) => {
  const { ticketHash } = await ticketFor(one, 'reset', username);
  return other.redeemReset(ticketHash, newPassword(), 'revoke');
};

const lock: End = ({ other }, { account }) => other.lockAccount(account.id);
const remove: End = ({ other }, { account }) => other.deleteAccount(account.id);

/** Whether a session that is being begun while its account's sessions are ended outlives that. */
async function outlivesSession(nodes: Nodes, end: End): Promise<boolean> {
  const person = await personNamed(nodes.one, username);
  const session = newSession();
  const { id } = person.account;
  const begin = `
    INSERT INTO sessions (account_id, session_hash, wrapped_data_key, label, created_at, last_used_at, expires_at)
    VALUES ($1, $2, $3, 'Firefox', $4, $4, $5)`;
  const values = [id, session.sessionHash, session.wrappedDataKey, session.createdAt, session.expiresAt];
  await nodes.during(
    [
      ['UPDATE accounts SET last_used_at = created_at WHERE id = $1', [id]],
      [begin, values],
    ],
    () => end(nodes, person),
  );
  return (await countWhere(nodes, 'sessions')) > 0;
}

/** The same for a token that is being made with the password. */
async function outlivesToken(nodes: Nodes, end: End): Promise<boolean> {
  const person = await personNamed(nodes.one, username);
  const { id } = person.account;
  const insert = `
    INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at)
    VALUES ($1, $2, 'own', $3, 7, 0)`;
  await nodes.during(
    [
      ['SELECT FROM accounts WHERE id = $1 FOR SHARE', [id]],
      [insert, [id, bytes(32), bytes(76)]],
    ],
    () => end(nodes, person),
  );
  return (await countWhere(nodes, 'tokens')) > 0;
}

/** A change of password as one statement, which sees only what had been committed when it began. */
const changeInOneView = `
  CREATE OR REPLACE FUNCTION change_password(
    for_account bigint, from_verifier bytea, new_salt bytea, new_verifier bytea, new_key bytea, set_at bigint,
    kept_session bigint, revokes boolean
  ) RETURNS boolean LANGUAGE sql SET search_path FROM CURRENT AS $$
    WITH changed AS (
      UPDATE accounts
      SET salt = new_salt, verifier = new_verifier, wrapped_data_key = new_key, password_set_at = set_at
      WHERE id = for_account AND verifier = from_verifier AND locked_at IS NULL RETURNING id),
    ended AS (DELETE FROM sessions USING changed WHERE account_id = changed.id AND session_id <> kept_session),
    revoked AS (DELETE FROM tokens USING changed WHERE account_id = changed.id AND revokes)
    SELECT EXISTS (SELECT FROM changed) $$`;

describe('an account over PostgreSQL', () => {
  for (const [what, end] of Object.entries({ change, reset, lock, remove })) {
    it(`P16: a session that begins at the very moment of a ${what} ends with it`, async () => {
      await using nodes = await openNodes(server);
      expect(await outlivesSession(nodes, end)).toBe(false);
    });
  }

  for (const [what, end] of Object.entries({ change, reset, remove })) {
    it(`P16: a token that is made at the very moment of a ${what} that revokes all is revoked`, async () => {
      await using nodes = await openNodes(server);
      expect(await outlivesToken(nodes, end)).toBe(false);
    });
  }

  it('the checks above notice a change of password that sees only what was there when it began', async () => {
    for (const outlives of [outlivesSession, outlivesToken]) {
      await using nodes = await openNodes(server);
      await nodes.ask(changeInOneView);
      expect(await outlives(nodes, change)).toBe(true);
    }
  });

  it('P16: of a hundred log-ins and tokens that race a change of password none is left, and none hangs', async () => {
    await using nodes = await openNodes(server);
    const { one, node } = nodes;
    const ann = await personNamed(one, username);
    const { id } = ann.account;
    const kept = await logIn(one, ann);
    const begin = (n: number) =>
      n % 4 < 2
        ? node(n).addSession(id, ann.password.verifier, newSession())
        : node(n).addOwnToken(id, ann.password.verifier, newToken());
    const before = Array.from({ length: racers / 2 }, (_, n) => begin(n));
    const to = newPassword();
    const changed = nodes.other.changePassword(id, ann.password.verifier, to, kept.sessionId, 'revoke');
    const after = Array.from({ length: racers / 2 }, (_, n) => begin(n));
    expect(await changed).toBe(true);
    await Promise.all([...before, ...after]);
    expect((await one.listSessions(id)).map(({ sessionId }) => sessionId)).toEqual([kept.sessionId]);
    expect(await one.listTokens(id)).toEqual([]);
    expect(await one.addSession(id, to.verifier, newSession())).not.toBeNull();
  });

  it('P17: of many look-ups of tokens at once each has its own answer, in bytes of its own', async () => {
    await using nodes = await openNodes(server);
    const tokens = Array.from({ length: 3 }, () => newToken());
    const { id } = await accountNamed(nodes.one, username);
    for (const token of tokens) await nodes.one.addToken(id, token);
    const hashes = Array.from({ length: racers }, (_, n) => tokens[n % 4]?.tokenHash ?? bytes(32));
    const answers = await Promise.all(hashes.map((hash) => nodes.other.findToken(hash)));
    for (const [n, answer] of answers.entries()) {
      expect(answer?.token.wrappedDataKey).toEqual(tokens[n % 4]?.wrappedDataKey as Uint8Array);
      answer?.token.wrappedDataKey.fill(0);
    }
  });

  it('P16: of a hundred changes of one password exactly one is made', async () => {
    await using nodes = await openNodes(server);
    const { account, password } = await personNamed(nodes.one, username);
    const wanted = Array.from({ length: racers }, () => newPassword());
    const made = await Promise.all(
      wanted.map((to, n) => nodes.node(n).changePassword(account.id, password.verifier, to, 0, 'keep')),
    );
    expect(made.filter((each) => each)).toHaveLength(1);
    const found = await nodes.other.findPassword(username);
    expect(found?.password).toEqual(wanted[made.indexOf(true)] ?? null);
  });

  it('P16: of a hundred who want one username at once exactly one gets it, whole', async () => {
    await using nodes = await openNodes(server);
    const { one, node } = nodes;
    const tickets = await Promise.all(Array.from({ length: 10 }, () => ticketFor(one, 'sign_up', username)));
    const plan = { plan: 'basic', createdAt: one.now() } as const;
    const asked = Array.from({ length: racers }, (_, n) => {
      const ticket = tickets[n];
      if (ticket !== undefined) return node(n).redeemSignUp(ticket.ticketHash, plan, newPassword());
      return n % 3 === 0
        ? node(n).inviteAccount(newAccount(username), newTicket('reset', username))
        : node(n).createAccount(newAccount(username), newToken());
    });
    const made = (await Promise.all(asked)).filter((each) => typeof each === 'object' && each !== null);
    expect(made).toHaveLength(1);
    expect(await one.findAccount(username)).toEqual(made[0] as never);
    const [account] = await one.listAccounts();
    const links = await countWhere(nodes, "tickets WHERE kind = 'reset' AND expires_at > 0");
    // A password, a token or a link, as it was made by.
    expect(Number(account?.hasPassword) + (account?.tokens ?? 0) + links).toBe(1);
    expect(await countWhere(nodes, 'accounts')).toBe(1);
    expect(await countWhere(nodes, 'tokens')).toBe(account?.tokens ?? 0);
  });

  it('a name that is looked up before it is taken is taken twice, as the check above would notice', async () => {
    await using nodes = await openNodes(server);
    await nodes.ask('ALTER TABLE accounts DROP CONSTRAINT accounts_username_key');
    const insert = "INSERT INTO accounts (username, plan, created_at) VALUES ($1, 'basic', 0)";
    const found = await Promise.all([0, 1].map((n) => nodes.node(n).findAccount(username)));
    for (const account of found) if (account === null) await nodes.ask(insert, [username]);
    expect(await countWhere(nodes, 'accounts')).toBe(2);
  });
});

const few: TicketLimits = { maxLive: 3, quietSeconds: [0], windowSeconds: 86_400 };

async function keptOf(nodes: Nodes): Promise<StoredTicket[]> {
  const wanted = Array.from({ length: racers }, () => newTicket('reset', username, nodes.one.now()));
  const kept = await Promise.all(wanted.map((ticket, n) => nodes.node(n).addTicket(ticket, few)));
  return wanted.filter((_, n) => kept[n]);
}

const mailed = `
  INSERT INTO tickets (ticket_hash, kind, username, place, created_at, expires_at, counts_until)
  VALUES ($1, 'reset', $2, 1, $3, $4, $4)`;

/** Whether a link that is mailed at the very moment when another is handed over still works then. */
async function mailedLinkWorks(nodes: Nodes): Promise<boolean> {
  const { id } = await accountNamed(nodes.one, username);
  const [first, handed] = [newTicket('reset', username), newTicket('reset', username)];
  const values = [first.ticketHash, username, first.createdAt, first.expiresAt];
  await nodes.during([[mailed, values]], () => nodes.other.replaceResetTickets(id, handed));
  expect(await nodes.one.findTicket('reset', handed.ticketHash)).toEqual(handed);
  return (await nodes.one.findTicket('reset', first.ticketHash)) !== null;
}

describe('tickets over PostgreSQL', () => {
  it('P21: of a hundred tickets that are asked for at once as many are kept as the limit allows', async () => {
    await using nodes = await openNodes(server);
    const kept = await keptOf(nodes);
    expect(kept).toHaveLength(few.maxLive);
    for (const ticket of kept)
      expect(await nodes.other.findTicket('reset', ticket.ticketHash)).toEqual(ticket);
    expect(await countWhere(nodes, 'tickets')).toBe(few.maxLive);
  });

  it('the check above notices tickets that do not meet in one place', async () => {
    await using nodes = await openNodes(server);
    await nodes.ask('CREATE SEQUENCE places');
    await nodes.ask(`
      CREATE FUNCTION elsewhere() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.place := nextval('${nodes.schema}.places'); RETURN NEW; END $$`);
    await nodes.ask(
      'CREATE TRIGGER places BEFORE INSERT ON tickets FOR EACH ROW EXECUTE FUNCTION elsewhere()',
    );
    expect((await keptOf(nodes)).length).toBeGreaterThan(few.maxLive);
  });

  it('P16: a link that is handed over voids one that is mailed at the very moment', async () => {
    await using nodes = await openNodes(server);
    expect(await mailedLinkWorks(nodes)).toBe(false);
  });

  it('the check above notices a link that is handed over after the others are voided', async () => {
    await using nodes = await openNodes(server);
    await nodes.seed('hand_ticket', 'place < taken', 'place < taken - 1');
    expect(await mailedLinkWorks(nodes)).toBe(true);
  });

  it('of two links of one reset that are used at once one works, and neither waits for the other for ever', async () => {
    await using nodes = await openNodes(server);
    const { id } = await accountNamed(nodes.one, username);
    for (let round = 0; round < 20; round += 1) {
      const tickets = await Promise.all([0, 1].map(() => ticketFor(nodes.one, 'reset', username)));
      const uses = tickets.map(({ ticketHash }, n) =>
        nodes.node(n).redeemReset(ticketHash, newPassword(), 'keep'),
      );
      const [used] = await Promise.all([Promise.all(uses), nodes.other.lockAccount(id)]);
      expect(used.filter((each) => each !== null).length).toBeLessThanOrEqual(1);
      await nodes.one.unlockAccount(id);
      for (const { kind, ticketHash } of tickets)
        expect(await nodes.one.findTicket(kind, ticketHash)).toBeNull();
    }
  });
});
