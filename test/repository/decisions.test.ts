/** Each decision opens with what holds today, so a reader can stop there. */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

const folder = join(repositoryRoot, 'docs', 'decisions');
const mostWords = 65;

function flawsOf(name: string, text: string, names: readonly string[]): string[] {
  const [title = '', opening = '', ...rest] = text.split(/\n{2,}/);
  const successor = /^\*\*Superseded by \[\d{3}\]\(([^)]+)\)/.exec(opening)?.[1];
  return [
    ...(title.startsWith(`# ${name.slice(0, 3)} · `) && !title.includes('\n') ? [] : ['title']),
    ...(opening.startsWith('**Today.** ') || (successor !== undefined && names.includes(successor))
      ? []
      : ['opening']),
    ...(opening.split(/\s+/).length > mostWords ? ['length of the opening'] : []),
    ...(rest.some((paragraph) => /^\*\*Questions?\.\*\* /.test(paragraph)) ? [] : ['question']),
  ];
}

describe('a decision', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));

  it('has its number and title, then "**Today.**" or "**Superseded by [NNN](file).**", then the question', () => {
    expect(names.length).toBeGreaterThan(60);
    const flawed = names.map((name) => ({
      name,
      flaws: flawsOf(name, readFileSync(join(folder, name), 'utf8'), names),
    }));
    expect(flawed.filter(({ flaws }) => flaws.length > 0)).toEqual([]);
  });

  it('self-test: each flaw is found', () => {
    const successors = ['002-b.md'];
    const sound = '# 001 · A\n\n**Today.** It is so.\n\n**Question.** Why?\n';
    expect(flawsOf('001-a.md', sound, successors)).toEqual([]);
    expect(
      flawsOf('001-a.md', sound.replace('Today.**', 'Superseded by [002](002-b.md).**'), successors),
    ).toEqual([]);
    expect(
      flawsOf('001-a.md', sound.replace('Today.**', 'Superseded by [003](003-c.md).**'), successors),
    ).toEqual(['opening']);
    expect(flawsOf('002-b.md', sound, successors)).toEqual(['title']);
    expect(flawsOf('001-a.md', sound.replace('**Today.** ', ''), successors)).toEqual(['opening']);
    expect(flawsOf('001-a.md', sound.replace('so', 'so '.repeat(mostWords)), successors)).toEqual([
      'length of the opening',
    ]);
    expect(flawsOf('001-a.md', '# 001 · A\n\n**Today.** It is so.\n', successors)).toEqual(['question']);
  });
});
