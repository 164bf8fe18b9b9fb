/**
 * What an answer has promised by the time that a figure counts it: speed can be compared only at the same promise.
 *
 * Source for Redis: its documentation, https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/ and
 * …/management/replication/.
 */
import { table } from './figures.ts';

const header = ['figure', 'process killed', 'power loss', 'failover', 'copies'];

const stored = [
  'kept: committed before the answer',
  'kept: synced before the answer, as far as the disk obeys',
  'none: one machine',
  'one, on its disk',
];
const nothing = ['nothing to keep', 'nothing to keep', 'nothing to keep', 'none'];

const rows = [
  ['creates, reveals and trips; the store alone', ...stored],
  [
    'a create through the router',
    ...stored.slice(0, 2),
    'none: each key has one region',
    'one, in its region',
  ],
  ['pages (looking changes nothing); bare servers', ...nothing],
  [
    'Redis as it is configured by default',
    'lost since the last snapshot',
    'lost since the last snapshot',
    'what the replica has not received is lost',
    'in memory; asynchronous replicas',
  ],
  [
    'Redis with `appendonly yes`, `appendfsync everysec`',
    'kept, unless a sync is late',
    'up to a second is lost',
    'what the replica has not received is lost',
    'in memory and on its disk; asynchronous replicas',
  ],
];

export const durabilityText = `What an answer survives when it is counted. Redis is here for services that keep their secrets in it, as its
[documentation](https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/) has it; it was not measured.

${table(header, rows, header.length)}`;
