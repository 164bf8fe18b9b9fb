/**
 * How large the product and its parts are, and how its files depend on each other: `npm run -s stats`, or
 * `npm run -s stats -- FOLDER` for another checkout.
 *
 * Counts `src`, `sdk` and, apart from the total, `bench`; without tests and what only tests use. Imports are read from the
 * text: static and dynamic ones, types too. Runs on Node 20 with nothing installed.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The second half is where earlier revisions kept what only tests use. */
const testOnly = /\.test\.tsx?$|^src\/store\/(?:memory|conformance)(?:\/|\.ts$)/;

/**
 * The parts, and the paths of each: the first that fits. `move` makes whole copies of the embedded store, which the server never does. What is
 * directly in `src/` composes the others.
 */
const places = [
  ['start', /^src\/[^/]+$/],
  ['protocol', /^src\/protocol\//],
  ['web', /^src\/web\//],
  ['command', /^src\/cli\//],
  ['router', /^src\/router\//],
  ['postgres', /^src\/store\/postgres\//],
  ['move', /^src\/store\/(move\/|sqlite\/(backup|copier|moving|move-rows)\.ts$)/],
  ['server', /^src\//],
  ['sdk', /^sdk\//],
  ['bench', /^bench\//],
];

export const partNames = places.map(([name]) => name);

/** `undefined` for a path outside the product and its benchmarks. */
export function partOf(path) {
  return places.find(([, form]) => form.test(path))?.[0];
}

/** Paths of the TypeScript files that are counted, relative to the root. */
export function productFiles(root, within = ['src', 'sdk']) {
  const walk = (folder) =>
    readdirSync(join(root, folder)).flatMap((name) => {
      const path = `${folder}/${name}`;
      if (statSync(join(root, path)).isDirectory()) return walk(path);
      return /\.tsx?$/.test(name) && !name.endsWith('.d.ts') && !testOnly.test(path) ? [path] : [];
    });
  return within.flatMap(walk).sort();
}

const importForm = /(?:\bfrom\s+|\bimport\s*\(?\s*|\brequire\(\s*)'(\.{1,2}\/[^']+)'/g;

/** What each file imports, of the product alone. */
export function importsOf(files, textOf) {
  const known = new Set(files);
  return new Map(
    files.map((path) => {
      const found = Array.from(textOf(path).matchAll(importForm), ([, to]) =>
        normalize(join(dirname(path), to)),
      );
      return [path, [...new Set(found)].filter((to) => known.has(to) && to !== path)];
    }),
  );
}

/** Groups of places that reach each other (Tarjan), each of two or more, by name. */
export function circlesIn(graph) {
  const [index, low, stack, on, circles] = [new Map(), new Map(), [], new Set(), []];
  const visit = (place) => {
    index.set(place, index.size);
    low.set(place, index.get(place));
    stack.push(place);
    on.add(place);
    for (const next of graph.get(place) ?? []) {
      if (!index.has(next)) visit(next);
      if (on.has(next)) low.set(place, Math.min(low.get(place), low.get(next)));
    }
    if (low.get(place) !== index.get(place)) return;
    const circle = stack.splice(stack.indexOf(place));
    for (const member of circle) on.delete(member);
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const place of graph.keys()) if (!index.has(place)) visit(place);
  return circles.sort();
}

/** The same between folders: one folder imports another when one of its files does. */
export function folderGraph(graph) {
  const folders = new Map();
  for (const [path, targets] of graph) {
    const own = folders.get(dirname(path)) ?? new Set();
    folders.set(dirname(path), own);
    for (const to of targets) if (dirname(to) !== dirname(path)) own.add(dirname(to));
  }
  return folders;
}

/** Lines that hold only a comment. */
export function commentLines(text) {
  let isInside = false;
  return text.split('\n').filter((line) => {
    const code = line.trim();
    if (isInside) {
      isInside = !code.includes('*/');
      return true;
    }
    if (code.startsWith('//')) return true;
    if (!/^\{?\/\*/.test(code)) return false;
    isInside = !code.includes('*/');
    return true;
  }).length;
}

/** The text of each comment, in one line each. */
export function commentsIn(text) {
  return Array.from(text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?<![:'"`\\])\/\/(.*)/g), ([, block, line]) =>
    (block ?? line).replace(/\n\s*\* ?/g, ' ').trim(),
  );
}

export const wordsIn = (text) => text.split(/\s+/).filter((word) => word !== '').length;

/** What a file has to be a part of its only importer: that one gathers no others. A table of commands or pages gathers many. */
const smallLines = 100;
const gatheredFiles = 6;

/** Small files with one importer, which does not gather files as a table or a composition does. */
export function smallFiles(graph, linesOf) {
  const importers = new Map([...graph.keys()].map((path) => [path, []]));
  for (const [path, targets] of graph) for (const to of targets) importers.get(to).push(path);
  const only = new Map([...importers].filter(([, by]) => by.length === 1).map(([path, [by]]) => [path, by]));
  const gathered = (by) => [...only.values()].filter((each) => each === by).length;
  return [...only].filter(([path, by]) => linesOf(path) < smallLines && gathered(by) < gatheredFiles);
}

/** A port that a store implements, unlike hashing, limits (one machine counts in memory) and the record of all ports. */
const ofStores = /^export interface \w+(Store|Clock)\b/m;

/** The subjects of the stores' ports, and those of them without a file of that name in both stores. */
export function subjectsIn(root) {
  const ports = join(root, 'src/core/ports');
  if (!existsSync(ports)) return null;
  const subjects = readdirSync(ports).filter(
    (name) =>
      name.endsWith('.ts') && !testOnly.test(name) && ofStores.test(readFileSync(join(ports, name), 'utf8')),
  );
  const isIn = (store) => (name) => existsSync(join(root, 'src/store', store, name));
  const apart = subjects.filter((name) => !isIn('sqlite')(name) || !isIn('postgres')(name));
  return { count: subjects.length, apart };
}

/** How many lines each part may have; `{}` in a checkout from before there were budgets. */
export function budgetsOf(root) {
  const path = join(root, 'scripts/line-budget.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

export function statsOf(root) {
  const files = productFiles(root);
  const all = [...files, ...(existsSync(join(root, 'bench')) ? productFiles(root, ['bench']) : [])];
  const texts = new Map(all.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const linesOf = (path) => texts.get(path).split('\n').length - 1;
  const sum = (paths, of) => paths.reduce((total, path) => total + of(path), 0);
  const sizes = files.map((path) => ({ path, lines: linesOf(path) })).sort((a, b) => a.lines - b.lines);
  const sizeAt = (share) => sizes[Math.floor(sizes.length * share)].lines;
  const graph = importsOf(all, (path) => texts.get(path));
  const lines = sum(files, linesOf);
  return {
    files: files.length,
    lines,
    parts: partNames.map((name) => {
      const own = all.filter((path) => partOf(path) === name);
      return { name, files: own.length, lines: sum(own, linesOf) };
    }),
    median: sizeAt(0.5),
    p95: sizeAt(0.95),
    longest: sizes.at(-1),
    small: smallFiles(
      importsOf(files, (path) => texts.get(path)),
      linesOf,
    ),
    subjects: subjectsIn(root),
    fileCircles: circlesIn(graph),
    folderCircles: circlesIn(folderGraph(graph)),
    commentShare: sum(files, (path) => commentLines(texts.get(path))) / lines,
    commentWords: sum(files, (path) => wordsIn(commentsIn(texts.get(path)).join(' '))),
  };
}

function render(stats, budgets) {
  const listed = (name, value, members) => [
    `${name.padEnd(25)}${value}`,
    ...members.map((member) => `${' '.repeat(25)}${member}`),
  ];
  const circles = (name, found) =>
    listed(
      name,
      found.length,
      found.map((members) => members.join('  ')),
    );
  const cells = (name, ...numbers) => name.padEnd(12) + numbers.map((n) => String(n).padStart(8)).join('');
  return [
    ...listed('files', stats.files, []),
    ...listed('lines', stats.lines, []),
    ...listed('lines a file, median', stats.median, []),
    ...listed('lines a file, p95', stats.p95, []),
    ...listed('longest file', `${stats.longest.lines}  ${stats.longest.path}`, []),
    ...listed(
      'small, one importer',
      stats.small.length,
      stats.small.map((pair) => pair.join('  in  ')),
    ),
    ...(stats.subjects === null
      ? []
      : listed(
          'subjects in both stores',
          `${stats.subjects.count - stats.subjects.apart.length} of ${stats.subjects.count}`,
          stats.subjects.apart,
        )),
    ...circles('circles of files', stats.fileCircles),
    ...circles('circles of folders', stats.folderCircles),
    ...listed('comment lines', `${(100 * stats.commentShare).toFixed(1)} %`, []),
    ...listed('words of comments', stats.commentWords, []),
    '',
    cells('part', 'files', 'lines', 'budget'),
    ...stats.parts.map(({ name, files, lines }) => cells(name, files, lines, budgets[name] ?? '')),
    '',
  ].join('\n');
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] === here) {
  const root = process.argv[2] ?? join(dirname(here), '..');
  try {
    process.stdout.write(render(statsOf(root), budgetsOf(root)));
  } catch (error) {
    if (error?.code !== 'ENOENT') throw error;
    process.stderr.write(
      `${relative('.', root) || '.'} is no checkout of Mayfly: it needs the folders src and sdk.\n`,
    );
    process.exit(2);
  }
}
