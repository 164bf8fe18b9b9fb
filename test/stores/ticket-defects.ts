/**
 * Stores with one seeded defect each in mailed tickets: how many there are, what they do, and how often.
 */
import type { StoredTicket } from '../../src/core/account.ts';
import { noTicketLimits } from './conformance/account-fixtures.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export const ticketDefects: readonly SeededDefect[] = [
  {
    defect: 'a sign-up ticket is looked for, then used',
    caughtBy: 'of fifty uses of a sign-up ticket at once exactly one makes the account',
    seed: (store) => ({
      ...store,
      async redeemSignUp(ticketHash, account, password) {
        const ticket = await store.findTicket('sign_up', ticketHash);
        if (ticket === null) return 'gone';
        await turn();
        const made = await store.redeemSignUp(ticketHash, account, password);
        return made === 'gone' ? ((await store.findAccount(ticket.username)) ?? 'gone') : made;
      },
    }),
  },
  {
    defect: 'a reset ticket is looked for, then used',
    caughtBy: 'of fifty uses of a reset ticket at once exactly one sets the password',
    seed: (store) => ({
      ...store,
      async redeemReset(ticketHash, password, tokens) {
        const ticket = await store.findTicket('reset', ticketHash);
        if (ticket === null) return null;
        await turn();
        return (await store.redeemReset(ticketHash, password, tokens)) ?? store.findAccount(ticket.username);
      },
    }),
  },
  {
    defect: 'a later ticket replaces the earlier one',
    caughtBy: 'tickets of one kind and username live side by side',
    seed(store) {
      const newest = new Map<string, Uint8Array>();
      const isNewest = (place: string, hash: Uint8Array) => newest.get(place)?.toHex() === hash.toHex();
      return {
        ...store,
        async addTicket(ticket, limits) {
          const kept = await store.addTicket(ticket, limits);
          if (kept) newest.set(`${ticket.kind} ${ticket.username}`, ticket.ticketHash.slice());
          return kept;
        },
        async findTicket(kind, hash) {
          const found = await store.findTicket(kind, hash);
          return found !== null && isNewest(`${kind} ${found.username}`, hash) ? found : null;
        },
      };
    },
  },
  {
    defect: 'a ticket beyond the limit takes the place of the oldest',
    caughtBy:
      'a username gets no more live tickets of a kind than the limit, also of many at once, and keeps each until it ends',
    seed(store) {
      const kept: StoredTicket[] = [];
      const isOut = (ticket: StoredTicket) => {
        const same = kept.filter(
          ({ kind, username }) => kind === ticket.kind && username === ticket.username,
        );
        return !same.slice(-3).includes(ticket);
      };
      return {
        ...store,
        async addTicket(ticket, limits) {
          kept.push(ticket);
          return store.addTicket(ticket, { ...limits, maxLive: 1_000 });
        },
        async findTicket(kind, hash) {
          const ticket = kept.find((each) => each.ticketHash.toHex() === hash.toHex());
          return ticket !== undefined && isOut(ticket) ? null : store.findTicket(kind, hash);
        },
      };
    },
  },
  {
    defect: 'the quiet time of tickets is looked at, then begun',
    caughtBy: 'within the quiet time a username gets no second ticket of a kind, also of many at once',
    seed(store) {
      const made = new Map<string, number>();
      return {
        ...store,
        async addTicket(ticket, limits) {
          const place = `${ticket.kind} ${ticket.username}`;
          const last = made.get(place) ?? Number.NEGATIVE_INFINITY;
          await turn();
          if (ticket.createdAt - last < (limits.quietSeconds[0] ?? 0)) return false;
          made.set(place, ticket.createdAt);
          return store.addTicket(ticket, { ...limits, quietSeconds: [0] });
        },
      };
    },
  },
  {
    defect: 'the quiet time of tickets stays as short as the first',
    caughtBy: 'the quiet time grows with every ticket of the window, and what was refused does not count',
    seed: (store) => ({
      ...store,
      addTicket: (ticket, limits) =>
        store.addTicket(ticket, { ...limits, quietSeconds: limits.quietSeconds.slice(0, 1) }),
    }),
  },
  {
    defect: 'only live tickets count against the next one',
    caughtBy:
      'tickets that were used, voided, expired or swept past their end count until the window has passed',
    seed: (store) => ({
      ...store,
      addTicket: (ticket, limits) =>
        store.addTicket(ticket, { ...limits, windowSeconds: ticket.expiresAt - ticket.createdAt }),
    }),
  },
  {
    defect: 'the use of a ticket leaves the others as they are',
    caughtBy: 'the use of a ticket voids every other of its kind and username, and no other',
    seed(store) {
      const kept: StoredTicket[] = [];
      return {
        ...store,
        async addTicket(ticket, limits) {
          kept.push(ticket);
          return store.addTicket(ticket, limits);
        },
        async redeemReset(ticketHash, password, tokens) {
          const account = await store.redeemReset(ticketHash, password, tokens);
          for (const each of kept)
            if (account !== null && each.ticketHash.toHex() !== ticketHash.toHex())
              await store.addTicket(each, noTicketLimits).catch(() => false);
          return account;
        },
      };
    },
  },
  {
    defect: 'a ticket of one kind works for the other',
    caughtBy: 'a ticket works for its own kind only',
    seed: (store) => ({
      ...store,
      async redeemReset(ticketHash, password, tokens) {
        const signUp = await store.findTicket('sign_up', ticketHash);
        const account = { plan: 'basic', createdAt: store.now() } as const;
        if (signUp === null) return store.redeemReset(ticketHash, password, tokens);
        const made = await store.redeemSignUp(ticketHash, account, password);
        return typeof made === 'object' ? made : null;
      },
    }),
  },
];
