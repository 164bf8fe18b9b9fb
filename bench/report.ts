/**
 * A run in Markdown, and its picture.
 *
 * Every number comes from one run; ratios are taken within it, because two runs on a shared machine cannot be compared.
 */
import type { BodyFigure } from './bodies.ts';
import { durabilityText } from './durability.ts';
import {
  cpuOf,
  formatNumber,
  inB,
  inN,
  type LoadFigures,
  median,
  type Series,
  summary,
  table,
} from './figures.ts';
import type { TimingFigure } from './interleave.ts';
import { requestsPerTrip } from './jobs.ts';
import { isSlow, passphraseConnections } from './load.ts';
import type { MemorySample } from './memory.ts';
import type { PageFigures } from './pages.ts';
import { type PhoneFigures, slowdown } from './phone.ts';
import { drawBars } from './picture.ts';
import type { RouterFigure } from './router.ts';
import type { Figures } from './sections.ts';
import type { Sizes } from './sizes.ts';
import type { StartFigures } from './starts.ts';
import type { StoreFigures } from './store.ts';
import { tailText } from './tail.ts';
import { targets, targetsTable } from './targets.ts';
import { isEven } from './uniform.ts';

const titles: Readonly<Record<LoadFigures['generator'], string>> = {
  raw: 'Raw sockets',
  undici: 'undici under Node',
};

/** What a whole run or a comparison has around it. */
export interface Circumstances {
  readonly machine: string;
  readonly sizes: Sizes;
  readonly command: string;
}

export function renderDocument({ machine, sizes, command }: Circumstances, body: string): string {
  const { rounds, connections } = sizes.load;
  return `# Benchmarks

Made by \`${command}\`; do not edit. [benchmarks.md](benchmarks.md) has Mayfly beside bare servers,
[benchmarks-against.md](benchmarks-against.md) beside an earlier commit.

${machine}
- ${rounds} rounds, every kind of work once in each, one after the other, so that a slow minute hits all of them; medians over the
  rounds. ${connections} keep-alive connections with one request in flight on each. The generators read every answer to its end and check that it
  is 200 and that a revealed value is the one that was sent. Values are of 48 bytes, creators anonymous.
- Processor time is the kernel's, of all threads and processes of the server. The service is what \`npm start\` runs, without
  npm itself: embedded store, durable at every answer (the log is synced first), rate limits counting (set too high to refuse).

${body}`;
}

function loadRow(series: Series, load: LoadFigures): string[] {
  const round = summary(series);
  const { tripsPerSecond, cpuMicrosecondsPerTrip, p50Milliseconds, p99Milliseconds, generatorShare } = round;
  // Beside slow hashes the transport is nothing: a ratio would say only that.
  const isRatioVain = isSlow(series);
  return [
    series.label,
    formatNumber(cpuMicrosecondsPerTrip, 1),
    isRatioVain ? '–' : formatNumber(inB(cpuOf(series), load), 1),
    formatNumber(tripsPerSecond, tripsPerSecond < 100 ? 1 : 0),
    isRatioVain ? '–' : formatNumber(inN(series, load), 2),
    formatNumber(p50Milliseconds, 2),
    formatNumber(p99Milliseconds, 2),
    formatNumber(generatorShare * 100, 0),
  ];
}

function loadTable(load: LoadFigures): string {
  const header = ['what', 'CPU µs', 'in B', 'a second', 'in N', 'p50 ms', 'p99 ms', 'generator %'];
  const all = [load.bun, load.bunWithoutBody, load.node, ...load.service];
  return `### ${titles[load.generator]}

${table(
  header,
  all.map((series) => loadRow(series, load)),
)}`;
}

function loadText(load: readonly LoadFigures[]): string {
  return `**B** is the processor time of one create sent to a bare \`Bun.serve\`, which reads the body: every target in B means this one. The second
row is the same server asked for a page, which has no body; documents and decisions before December 2026 have that as B, about 0.8 of
today's. **N** is the requests a second of a bare \`node:http\` asked for a page. All are by the same generator in the same rounds.
Processor time and "a second" are of a trip: "create and reveal" is two requests, and its N is over trips of as
many requests. The last column is the share of its core that the generator used: near 100 it was the limit of requests a second, not
of processor time. Pages are asked for compressed, without what they load.

A passphrase is expensive by design: argon2id (19 MiB), on all cores but one (at least two), off the main thread; measured with
${passphraseConnections} connections.

${load.map(loadTable).join('\n\n')}`;
}

function storeText(store: StoreFigures): string {
  const header = ['what, and how many in flight', 'a second', 'CPU µs each', 'p50 ms', 'p99 ms'];
  const rows = Object.entries(store.figures).map(([name, figure]) => [
    `${name.replace(/_\d+$/, '').replaceAll('_', ' ')}, ${figure.inFlight}`,
    formatNumber(figure.operationsPerSecond, 0),
    formatNumber(figure.cpuMicrosecondsPerOperation, 1),
    formatNumber(figure.p50Milliseconds, 2),
    formatNumber(figure.p99Milliseconds, 2),
  ]);
  return `${formatNumber(store.liveSecrets, 0)} live secrets of ${store.bytesPerSecret} bytes each on disk, neither core reserved. A claim looks the
secret up and takes it; an operation has ended when its fsync has. Opening takes ${formatNumber(store.openFullMilliseconds, 0)} ms; sweeping does
${formatNumber(store.sweptPerSecond, 0)} records a second.

${table(header, rows)}`;
}

function routerText(router: readonly RouterFigure[]): string {
  const header = [
    'what',
    'direct, p50 ms',
    'routed, p50 ms',
    'direct, CPU µs',
    'routed, CPU µs',
    'of it the router',
  ];
  const rows = router.map((one) => [
    one.label,
    formatNumber(one.directP50Milliseconds, 2),
    formatNumber(one.routedP50Milliseconds, 2),
    formatNumber(one.directCpuMicroseconds, 1),
    formatNumber(one.routedCpuMicroseconds, 1),
    `${formatNumber(one.routerCpuMicroseconds, 1)} = ${formatNumber(one.routerInB, 1)} B`,
  ]);
  return `The same request sent to a region's server directly and through the router, in turns, all on one core, by raw sockets; processor
time of the server and the router together, and of the router alone.

${table(header, rows)}`;
}

function uniformText(uniform: readonly TimingFigure[]): string {
  const header = ['what', 'of', 'samples', 'median µs', 'to the first', 't', 'within 3 %'];
  const rows = uniform.map((one) => [
    one.comparison,
    one.label,
    formatNumber(one.count, 0),
    formatNumber(one.medianMicroseconds, 1),
    formatNumber(one.ratio, 3),
    formatNumber(one.t, 2),
    isEven(one) ? 'yes' : '**no**',
  ]);
  return `One request at a time on one connection, all classes in each round in a random order; the slowest tenth of each is cut. \`t\`
is Welch's, against the first class; a second class of unknown ones shows the machine's own noise. After a posted form the next
request on the same connection is timed as well, because deferred work shows there.

${table(header, rows, 2)}`;
}

function bodiesText(bodies: readonly BodyFigure[]): string {
  const header = ['endpoint', 'bytes', 'plainest, ms', 'ugliest', 'to the plainest'];
  const rows = bodies
    .toSorted((a, b) => b.ratio - a.ratio)
    .map((one) => [
      one.endpoint,
      formatNumber(one.capBytes, 0),
      formatNumber(one.plainMs, 2),
      one.ugliest,
      formatNumber(one.ratio, 1),
    ]);
  return `Processor time of one request in this process, the least of several rounds in turns: for each endpoint that takes a body, in
each form that it reads and as long as it takes, the costliest of some 20 to 40 bodies beside a plain one.

${table(header, rows, 1)}`;
}

function pagesText(pages: readonly PageFigures[]): string {
  const header = ['page', 'bytes', 'requests', 'first byte ms', 'complete ms'];
  const rows = pages.map((page) => [
    page.label,
    formatNumber(page.transferredBytes, 0),
    String(page.requests),
    formatNumber(page.firstByteMilliseconds, 1),
    formatNumber(page.completeMilliseconds, 1),
  ]);
  return `First visits in Chromium over loopback, the page with its style sheet, scripts and icon: bytes over the wire with headers,
medians of the times.

${table(header, rows)}`;
}

function phoneText({ stretchMilliseconds, steps }: PhoneFigures): string {
  const header = ['what', 'ms', 'page blocked at most, ms'];
  const rows = steps.map(({ label, milliseconds, blockedMilliseconds }) => [
    label,
    formatNumber(milliseconds, 0),
    blockedMilliseconds === 0 ? 'less than 50' : formatNumber(blockedMilliseconds, 0),
  ]);
  return `End-to-end secrets on a phone's screen in Chromium, whose page has 1/${slowdown} of this machine's processor. Chromium slows no workers, so
argon2id was also run on the page's own thread: ${formatNumber(stretchMilliseconds, 0)} ms. Times are medians, from the press to the link or the content;
blocked is the longest task of all runs.

${table(header, rows)}`;
}

function startText(start: StartFigures): string {
  const rows = Object.entries({
    '`npm start` without npm': start.script,
    'the executable': start.executable,
  });
  const cells = rows.map(([label, times]) => [
    label,
    formatNumber(median(times), 0),
    formatNumber(Math.min(...times), 0),
    formatNumber(Math.max(...times), 0),
  ]);
  return `From the start of the first process to the first 200, on one core and an existing folder.

${table(['what', 'median ms', 'least', 'most'], cells)}`;
}

function memoryText(memory: readonly MemorySample[]): string {
  const rows = memory.map(({ requests, mebibytes }) => [
    formatNumber(requests, 0),
    formatNumber(mebibytes, 1),
  ]);
  return `Resident memory of all processes of the service: idle, then the most between one row and the next, while secrets are created and
revealed and some are created with a passphrase. \`npm run bench -- --long\` watches 1,000,000 requests.

${table(['requests so far', 'resident MiB'], rows, 0)}`;
}

/** The title and the text of each part that was measured. */
function partsOf(figures: Figures, isWhole: boolean): (readonly [string, string])[] {
  const { load, store, router, uniform, bodies, pages, phone, start, memory, tail } = figures;
  const parts = [
    ['Against the targets', targetsTable(targets, figures, isWhole)],
    ['Requests', load && loadText(load)],
    ['The slowest, and the many', tail && tailText(tail)],
    ['What the figures are durable against', load && durabilityText],
    ['The store alone', store && storeText(store)],
    ['The router', router && routerText(router)],
    ['Times that must not differ', uniform && uniformText(uniform)],
    ['The ugliest bodies', bodies && bodiesText(bodies)],
    ['Pages', pages && pagesText(pages)],
    ['A slow phone', phone && phoneText(phone)],
    ['Start', start && startText(start)],
    ['Memory', memory && memoryText(memory)],
  ] as const;
  return parts.flatMap(([title, text]) => (text === null ? [] : [[title, text] as const]));
}

/** @param isWhole whether every section was run */
export function renderFigures(figures: Figures, isWhole: boolean): string {
  return partsOf(figures, isWhole)
    .map(([title, text]) => `## ${title}\n\n${text}\n`)
    .join('\n');
}

/** @param load what raw sockets measured */
export function renderPicture(load: LoadFigures): string {
  const bare = [load.node, load.bunWithoutBody, load.bun];
  const all = [...bare, ...load.service.filter((series) => !isSlow(series))];
  const tone = (series: Series) => (bare.includes(series) ? ('yardstick' as const) : ('service' as const));
  const bars = (value: (series: Series) => number) =>
    all.map((series) => ({
      label: series.label.replaceAll('`', ''),
      tone: tone(series),
      value: value(series),
    }));
  return drawBars('Requests a second and processor time of a request, beside bare servers', [
    {
      title: 'Requests a second (more is better)',
      digits: 0,
      bars: bars((series) => summary(series).tripsPerSecond * requestsPerTrip(series.kind)),
    },
    {
      title: 'Processor time of a request, µs (less is better)',
      digits: 1,
      bars: bars((series) => summary(series).cpuMicrosecondsPerTrip / requestsPerTrip(series.kind)),
    },
  ]);
}
