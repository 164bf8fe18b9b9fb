/** The limits of the existing service, as deploy/plans.upstream.json sets them for fleets that move. */
import { describe, expect, it } from 'bun:test';
import { join } from 'node:path';
import { readConfig } from '../../src/config/read.ts';
import type { PlanName } from '../../src/core/plans.ts';
import { createTestApp } from '../support/app.ts';
import { repositoryRoot } from '../support/started-server.ts';

const path = join(repositoryRoot, 'deploy', 'plans.upstream.json');
const reading = readConfig({ MAYFLY_PLANS_FILE: path });
if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
const { plans } = reading.settings;

/** In characters there, in bytes here. */
const largest: Readonly<Record<PlanName, number>> = {
  anonymous: 100_000,
  basic: 1_000_000,
  identity: 10_000_000,
};

describe.each(Object.entries(largest) as [PlanName, number][])('the plan %s', (plan, bytes) => {
  it.each(['documented', 'upstream'] as const)(
    'takes what a fleet sends, and no byte more, in the dialect %s',
    async (dialect) => {
      const app = createTestApp({ plans, dialect, v2Dialect: dialect });
      const { authorization } =
        plan === 'anonymous' ? { authorization: null } : await app.account('jo@example.com', plan);
      const credentials: Record<string, string> = authorization === null ? {} : { authorization };
      const share = (value: string) =>
        app.fetch('/api/v1/share', {
          method: 'POST',
          headers: { ...credentials, 'content-type': 'application/x-www-form-urlencoded' },
          body: `secret=${value}`,
        });
      const conceal = (secret: string) =>
        app.fetch('/api/v2/secret/conceal', {
          method: 'POST',
          headers: { ...credentials, 'content-type': 'application/json' },
          body: JSON.stringify({ secret: { secret } }),
        });
      for (const size of [12_000, bytes]) {
        const value = 'x'.repeat(size);
        const made = await share(value);
        expect([made.status, (await conceal(value)).status]).toEqual([200, 200]);
        const { secret_key } = (await made.json()) as { secret_key: string };
        const read = await app.fetch(`/api/v1/secret/${secret_key}`, { method: 'POST' });
        expect(((await read.json()) as { value: string }).value === value).toBe(true);
      }
      const over = 'x'.repeat(bytes + 1);
      const inV1 = dialect === 'documented' ? 413 : 404;
      expect([(await share(over)).status, (await conceal(over)).status]).toEqual([inV1, 413]);
    },
  );
});
