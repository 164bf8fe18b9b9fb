/** Proves that printing, joining, copying or logging a sensitive value never shows it. */
import { describe, expect, it } from 'bun:test';
import util from 'node:util';
import { Sensitive } from './sensitive.ts';

const value = 'correct-horse-battery-staple';
const sensitive = new Sensitive(value);

describe('a sensitive value (P18)', () => {
  const ways: ReadonlyArray<[string, () => string]> = [
    ['String()', () => String(sensitive)],
    ['a template', () => `${sensitive}`],
    ['concatenation', () => `${'x'}`.concat(sensitive as never)],
    ['addition', () => (sensitive as never as string) + (sensitive as never as string)],
    ['join', () => [sensitive].join()],
    ['JSON', () => JSON.stringify({ sensitive, list: [sensitive] })],
    ['util.inspect', () => util.inspect({ deep: { sensitive } }, { depth: 9, showHidden: true })],
    [
      'util.inspect, without custom printers',
      () => util.inspect(sensitive, { customInspect: false, showHidden: true }),
    ],
    [
      'util.format',
      () => util.format('%s %o %O %j %d', sensitive, sensitive, sensitive, sensitive, sensitive),
    ],
    ['Bun.inspect', () => Bun.inspect({ deep: { sensitive } }, { depth: 9 })],
    ['a Map and a Set', () => Bun.inspect([new Map([[1, sensitive]]), new Set([sensitive])])],
    ['an error’s message', () => new Error(`failed for ${sensitive}`).message],
    ['an error’s cause', () => Bun.inspect(new Error('failed', { cause: sensitive }))],
    ['an error’s cause, by util', () => util.inspect(new Error('failed', { cause: { sensitive } }))],
    ['an error’s own field', () => Bun.inspect(Object.assign(new Error('failed'), { sensitive }))],
    ['an aggregate', () => Bun.inspect(new AggregateError([sensitive]))],
    ['its own keys', () => Reflect.ownKeys(sensitive).join() + JSON.stringify(Object.entries(sensitive))],
    ['a spread', () => JSON.stringify({ ...sensitive })],
    ['a structured clone', () => Bun.inspect(structuredClone(sensitive))],
    ['a number', () => String(Number(sensitive))],
    ['a header', () => new Headers({ 'x-value': sensitive as never }).get('x-value') ?? ''],
    ['a query', () => new URLSearchParams({ value: sensitive as never }).toString()],
    ['a URL', () => new URL(`https://mayfly.example/${sensitive}`).href],
    ['a buffer', () => Buffer.from(String(sensitive)).toString()],
  ];
  it.each(ways)('is not shown by %s', (_name, print) => {
    expect(print()).not.toContain(value);
    expect(print()).not.toContain('battery');
  });

  it.each(ways.slice(0, 6))('shows [sensitive] in %s', (_name, print) => {
    expect(print()).toContain('[sensitive]');
  });

  it('is [sensitive] to every printer, by its hooks', () => {
    expect(util.inspect(sensitive)).toBe('[sensitive]');
    expect(Bun.inspect(sensitive)).toBe('[sensitive]');
    expect(JSON.stringify(sensitive)).toBe('"[sensitive]"');
    expect(sensitive.toString()).toBe('[sensitive]');
  });

  it('is not shown by the console of a process', async () => {
    const script = `
      import { Sensitive } from ${JSON.stringify(new URL('./sensitive.ts', import.meta.url).href)};
      const s = new Sensitive(['correct', 'horse', 'battery', 'staple'].join('-'));
      console.log(s, [s], { s }, \`\${s}\`); console.error(s); console.debug('%o %j', s, s); console.table([{ s }]); console.dir({ s });
      queueMicrotask(() => { throw Object.assign(new Error('failed', { cause: s }), { s }); });
    `;
    const run = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' });
    const printed = (await new Response(run.stdout).text()) + (await new Response(run.stderr).text());
    expect(printed).toContain('[sensitive]');
    expect(printed).not.toContain('correct-horse');
  });

  it('is given by expose() alone, unchanged', () => {
    expect(sensitive.expose()).toBe(value);
    const bytes = Uint8Array.of(1, 2, 3);
    expect(new Sensitive(bytes).expose()).toBe(bytes);
  });

  it('would be shown by a wrapper that keeps it in a plain field (self-test)', () => {
    const plain = { kept: value, toJSON: () => '[sensitive]' };
    expect(Bun.inspect(plain)).toContain(value);
  });
});
