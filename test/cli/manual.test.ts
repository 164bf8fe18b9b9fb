/** The manual page, as groff reads it. */
import { expect, it } from 'bun:test';
import { commands } from '../../src/cli/run.ts';
import { optionTerm, renderUsage } from '../../src/cli/shell.ts';
import { runCli } from '../support/cli-world.ts';

function render(source: string) {
  const ran = Bun.spawnSync(['groff', '-man', '-ww', '-Tascii', '-P-cbou', '-rLL=200n'], {
    stdin: new TextEncoder().encode(source),
  });
  return { page: ran.stdout.toString(), warnings: ran.stderr.toString() };
}

it('the manual page has every command and option, without a warning of groff', async () => {
  const { code, out } = await runCli(['man']);
  const { page, warnings } = render(out);
  expect([code, warnings]).toEqual([0, '']);
  for (const command of commands) {
    expect(page).toContain(renderUsage(command));
    for (const [name, usage] of Object.entries(command.options))
      expect(page).toContain(optionTerm(name, usage));
  }
});

it('self-test: a warning of groff is seen', () => {
  expect(render('.TH X 1\n.XYZ\n').warnings).toContain('XYZ');
});
