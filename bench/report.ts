/**
 * Writes docs/benchmarks.md and its picture.
 *
 * Every number comes from one run; ratios are taken within it, because two runs on a shared machine cannot be compared.
 */
import { type Figures, formatNumber, judge, type Series, summary } from './figures.ts';
import { requestsPerTrip } from './jobs.ts';
import { drawBars } from './picture.ts';
import { isEven } from './uniform.ts';

export interface Circumstances {
  readonly date: string;
  readonly machine: string;
  readonly versions: string;
  readonly rounds: number;
  readonly connections: number;
  readonly isPinned: boolean;
  readonly isQuick: boolean;
  readonly loadBefore: number;
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

function seriesRow(series: Series, figures: Figures): string {
  const { tripsPerSecond, cpuMicrosecondsPerTrip, p50Milliseconds, p99Milliseconds } = summary(series);
  const requests = requestsPerTrip[series.kind];
  // Beside slow hashes the transport is nothing: a ratio would say only that.
  const isSlowByDesign = series.kind.startsWith('passphrase');
  const ratio = (bare: Series) =>
    isSlowByDesign ? '–' : formatNumber((tripsPerSecond * requests) / summary(bare).tripsPerSecond, 2);
  return row([
    series.label,
    formatNumber(tripsPerSecond, tripsPerSecond < 100 ? 1 : 0),
    formatNumber(cpuMicrosecondsPerTrip, 1),
    formatNumber(p50Milliseconds, 2),
    formatNumber(p99Milliseconds, 2),
    ratio(figures.node),
    ratio(figures.bun),
  ]);
}

function throughputTable(figures: Figures): string {
  const header = [
    'what',
    'a second',
    'CPU µs each',
    'p50 ms',
    'p99 ms',
    'of bare node:http',
    'of bare Bun.serve',
  ];
  const all = [figures.node, figures.bun, ...figures.service, ...figures.passphrase];
  return [
    row(header),
    row(['---', ...header.slice(1).map(() => '---:')]),
    ...all.map((one) => seriesRow(one, figures)),
  ].join('\n');
}

function verdictTable(figures: Figures): string {
  const rows = judge(figures).map(({ what, target, measured, verdict }) =>
    row([what, target, measured, verdict === 'missed' ? '**missed**' : verdict]),
  );
  return [row(['target', 'bound', 'measured', '']), row(['---', '---:', '---:', '---']), ...rows].join('\n');
}

function storeTable({ store }: Figures): string {
  if (store === null) return 'Not measured in this run.';
  const header = ['what, and how many in flight', 'a second', 'CPU µs each', 'p50 ms', 'p99 ms'];
  const rows = Object.entries(store.figures).map(([name, figure]) =>
    row([
      `${name.replace(/_\d+$/, '').replaceAll('_', ' ')}, ${figure.inFlight}`,
      formatNumber(figure.operationsPerSecond, 0),
      formatNumber(figure.cpuMicrosecondsPerOperation, 1),
      formatNumber(figure.p50Milliseconds, 2),
      formatNumber(figure.p99Milliseconds, 2),
    ]),
  );
  const table = [row(header), row(['---', ...header.slice(1).map(() => '---:')]), ...rows].join('\n');
  return `${formatNumber(store.liveSecrets, 0)} live secrets of ${store.bytesPerSecret} bytes each on disk, neither core reserved. A claim looks the
secret up and takes it; an operation has ended when its fsync has. Opening takes ${formatNumber(store.openFullMilliseconds, 0)} ms; sweeping does
${formatNumber(store.sweptPerSecond, 0)} records a second.

${table}`;
}

function memoryTable({ memory }: Figures): string {
  if (memory.length === 0) return 'Not measured in this run: `npm run bench -- --long` takes it.';
  const rows = memory.map(({ requests, mebibytes }) =>
    row([formatNumber(requests, 0), formatNumber(mebibytes, 1)]),
  );
  return [row(['requests so far', 'resident MiB']), row(['---:', '---:']), ...rows].join('\n');
}

function pagesTable({ pages }: Figures): string {
  if (pages === null) return 'Not measured in this run: there was no Chromium.';
  const header = ['page', 'bytes', 'requests', 'first byte ms', 'complete ms', 'CPU µs', 'of bare Bun.serve'];
  const rows = pages.pages.map((page) =>
    row([
      page.label,
      formatNumber(page.transferredBytes, 0),
      String(page.requests),
      formatNumber(page.firstByteMilliseconds, 1),
      formatNumber(page.completeMilliseconds, 1),
      formatNumber(page.cpuMicroseconds, 0),
      formatNumber(page.cpuMicroseconds / pages.bareCpuMicroseconds, 1),
    ]),
  );
  const table = [row(header), row(['---', ...header.slice(1).map(() => '---:')]), ...rows].join('\n');
  return `First visits in Chromium over loopback, the page with its style sheet, scripts and icon: bytes over the wire with headers,
medians of the times. Processor time is the server's for the page alone, compressed, one request after the other on one
connection; the last column divides it by the same of the bare Bun server's "hello world".

${table}`;
}

function routerTable({ router }: Figures): string {
  const header = [
    'what',
    'direct, p50 ms',
    'routed, p50 ms',
    'direct, CPU µs',
    'routed, CPU µs',
    'of it the router',
  ];
  const rows = router.map((one) =>
    row([
      one.label,
      formatNumber(one.directP50Milliseconds, 2),
      formatNumber(one.routedP50Milliseconds, 2),
      formatNumber(one.directCpuMicroseconds, 1),
      formatNumber(one.routedCpuMicroseconds, 1),
      formatNumber(one.routerCpuMicroseconds, 1),
    ]),
  );
  return [row(header), row(['---', ...header.slice(1).map(() => '---:')]), ...rows].join('\n');
}

function uniformTable({ uniform }: Figures): string {
  const header = ['what', 'of', 'samples', 'median µs', 'to the first', 't', 'within 3 %'];
  const rows = uniform.map((one) =>
    row([
      one.comparison,
      one.label,
      formatNumber(one.count, 0),
      formatNumber(one.medianMicroseconds, 1),
      formatNumber(one.ratio, 3),
      formatNumber(one.t, 2),
      isEven(one) ? 'yes' : '**no**',
    ]),
  );
  return [row(header), row(['---', '---', ...header.slice(2).map(() => '---:')]), ...rows].join('\n');
}

export function renderReport(figures: Figures, circumstances: Circumstances): string {
  const { date, machine, versions, rounds, connections, isPinned, isQuick, loadBefore } = circumstances;
  const pinning = isPinned
    ? 'the servers pinned to core 0, the generator to core 1'
    : 'nothing pinned, because this machine has no taskset';
  return `# Benchmarks

Written by \`npm run bench${isQuick ? ' -- --quick' : ''}\`; do not edit. ${date}.

- Machine: ${machine}. A 4 KiB write and fsync takes ${formatNumber(figures.fsyncMicroseconds, 0)} µs (median) where the data lay. Load average before the run: ${loadBefore.toFixed(2)}.
- Versions: ${versions}.
- Method: ${rounds} rounds, every kind of work once in each round, one after the other, so that a slow minute hits all of
  them; ${pinning}; ${connections} keep-alive connections with one request in flight on each; medians over
  the rounds. The generator reads every answer to its end, checks that it is 200, and that a revealed value is the one
  that was sent. Processor time is the kernel's, of all threads of the server. The service runs as it is shipped, with the
  embedded store durable at every answer (WAL, \`synchronous=FULL\`) and rate limits counting (set too high to refuse).
  Values are of 48 bytes, creators anonymous.

![Requests a second and processor time, beside bare servers](benchmarks.svg)

## Against the targets

${verdictTable(figures)}

## Requests

A trip of two requests (create, then reveal) counts as one in the first two columns; the ratios are of requests.

${throughputTable(figures)}

A passphrase is expensive by design: argon2id (19 MiB), on all cores but one (at least two), off the main thread; measured with 4 connections.

## The store alone

${storeTable(figures)}

## The router

The same request sent to a region's server directly and through the router, in turns, all on one core; processor time of the server
and the router together, and of the router alone.

${routerTable(figures)}

## Times that must not differ

One request at a time on one connection, all classes in each round in a random order; the slowest tenth of each is cut. \`t\`
is Welch's, against the first class; a second class of unknown ones shows the machine's own noise. After a posted form the next
request on the same connection is timed as well, because deferred work shows there.

${uniformTable(figures)}

## Pages

${pagesTable(figures)}

## Memory and start

Resident memory under the load above: ${formatNumber(figures.residentMebibytes, 0)} MiB at most.
Start of the process to the first 200, ms: ${figures.startMilliseconds.map((time) => formatNumber(time, 0)).join(', ')}.

${memoryTable(figures)}
`;
}

export function renderPicture(figures: Figures): string {
  const all = [figures.node, figures.bun, ...figures.service];
  const tone = (series: Series) =>
    series === figures.node || series === figures.bun ? ('yardstick' as const) : ('service' as const);
  const bars = (value: (series: Series) => number) =>
    all.map((series) => ({ label: series.label, tone: tone(series), value: value(series) }));
  return drawBars('Requests a second and processor time of a request, beside bare servers', [
    {
      title: 'Requests a second (more is better)',
      digits: 0,
      bars: bars((series) => summary(series).tripsPerSecond * requestsPerTrip[series.kind]),
    },
    {
      title: 'Processor time of a request, µs (less is better)',
      digits: 1,
      bars: bars((series) => summary(series).cpuMicrosecondsPerTrip / requestsPerTrip[series.kind]),
    },
  ]);
}
