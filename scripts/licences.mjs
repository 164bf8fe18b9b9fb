/** The licences of what an executable or the npm package holds, as they ask to be passed on with it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

const runtimeNotice = `It is under the MIT licence, (c) Oven, and linked with JavaScriptCore (LGPL 2) and the libraries that
https://bun.com/docs/project/licensing lists with their licences and sources.`;

function textOf(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim();
  return `Licence: ${JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).license}`;
}

/** Of every package that is needed at run time, by name. What is different on other systems has the licence of its package. */
export function thirdPartyLicences() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const shipped = Object.entries(packages).filter(
    ([path, { dev, optional }]) => path !== '' && dev !== true && optional !== true,
  );
  const parts = shipped.map(([path, { version }]) => {
    const name = path.replace(/^.*node_modules\//, '');
    const text = name === 'bun' ? runtimeNotice : textOf(join(root, path));
    return `${name} ${version}\n\n${text}\n`;
  });
  parts.push(`Fraunces\n\n${readFileSync(join(root, 'src/web/assets/display.txt'), 'utf8')}`);
  return `Mayfly holds these works of others.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
