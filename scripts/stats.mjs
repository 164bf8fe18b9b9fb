/**
 * How large the product is and how its files hang together: `npm run -s stats`, or `npm run -s stats -- FOLDER` for another
 * checkout.
 *
 * Counts `src` and `sdk` without tests and what only tests use. Imports are read from the text: static and dynamic ones,
 * types too. Runs on Node 20 with nothing installed.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The second half is where earlier revisions kept what only tests use. */
const testOnly = /\.test\.tsx?$|^src\/store\/(?:memory|conformance)(?:\/|\.ts$)/;

/** Paths of the product's TypeScript files below a root, relative to it. */
export function productFiles(root) {
  const walk = (folder) =>
    readdirSync(join(root, folder)).flatMap((name) => {
      const path = `${folder}/${name}`;
      if (statSync(join(root, path)).isDirectory()) return walk(path);
      return /\.tsx?$/.test(name) && !name.endsWith('.d.ts') && !testOnly.test(path) ? [path] : [];
    });
  return ['src', 'sdk'].flatMap(walk).sort();
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

/** Lines that hold nothing but a comment. */
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

export function statsOf(root) {
  const files = productFiles(root);
  const texts = new Map(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const sizes = files.map((path) => ({ path, lines: texts.get(path).split('\n').length - 1 }));
  sizes.sort((a, b) => a.lines - b.lines);
  const sizeAt = (share) => sizes[Math.floor(sizes.length * share)].lines;
  const graph = importsOf(files, (path) => texts.get(path));
  const importers = new Map(files.map((path) => [path, 0]));
  for (const targets of graph.values()) for (const to of targets) importers.set(to, importers.get(to) + 1);
  const lines = sizes.reduce((sum, size) => sum + size.lines, 0);
  const comments = [...texts.values()].reduce((sum, text) => sum + commentLines(text), 0);
  return {
    files: files.length,
    lines,
    median: sizeAt(0.5),
    p95: sizeAt(0.95),
    longest: sizes.at(-1),
    oneImporter: [...importers.values()].filter((count) => count === 1).length,
    fileCircles: circlesIn(graph),
    folderCircles: circlesIn(folderGraph(graph)),
    commentShare: comments / lines,
  };
}

function render(stats) {
  const circles = (name, found) => [
    `${name}  ${found.length}`,
    ...found.map((members) => `                         ${members.join('  ')}`),
  ];
  return [
    `files                    ${stats.files}`,
    `lines                    ${stats.lines}`,
    `lines a file, median     ${stats.median}`,
    `lines a file, p95        ${stats.p95}`,
    `longest file             ${stats.longest.lines}  ${stats.longest.path}`,
    `files with one importer  ${stats.oneImporter}`,
    ...circles('circles of files       ', stats.fileCircles),
    ...circles('circles of folders     ', stats.folderCircles),
    `comment lines            ${(100 * stats.commentShare).toFixed(1)} %`,
    '',
  ].join('\n');
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] === here) {
  const root = process.argv[2] ?? join(dirname(here), '..');
  try {
    process.stdout.write(render(statsOf(root)));
  } catch (error) {
    if (error?.code !== 'ENOENT') throw error;
    process.stderr.write(
      `${relative('.', root) || '.'} is no checkout of Mayfly: it needs the folders src and sdk.\n`,
    );
    process.exit(2);
  }
}
