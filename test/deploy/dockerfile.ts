/** Reads a Dockerfile of the few forms that ours uses, and refuses every other one: what a test does not read it cannot replay. */

export interface Copy {
  /** The stage it copies from; `null` for the checkout. */
  readonly from: string | null;
  readonly sources: readonly string[];
  readonly target: string;
}

export type Step = ({ readonly kind: 'copy' } & Copy) | { readonly kind: 'run'; readonly script: string };

export interface Stage {
  readonly base: string;
  readonly name: string | null;
  readonly steps: Step[];
  readonly env: Record<string, string>;
  readonly labels: Record<string, string>;
  workdir: string;
  /** `UID:GID`. */
  user: string;
  volume: string;
  port: number;
  stopSignal: string;
  health: readonly string[];
  entrypoint: readonly string[];
  command: readonly string[];
}

function words(json: string): string[] {
  const value: unknown = JSON.parse(json);
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string'))
    throw new Error(`not a list of words: ${json}`);
  return value;
}

function pair(text: string): [string, string] {
  const [, name = '', quoted, plain] = /^([\w.]+)=(?:"([^"\\$]*)"|([^\s"\\$]+))$/.exec(text) ?? [];
  if (name === '') throw new Error(`not one NAME=value: ${text}`);
  return [name, quoted ?? plain ?? ''];
}

function readCopy(text: string): Copy {
  const [, from = null, rest = ''] = /^(?:--from=(\w+) )?([^-].*)$/.exec(text) ?? [];
  const paths = rest.split(' ');
  const target = paths.pop() ?? '';
  if (paths.length === 0 || /[*?[\]$"\\]/.test(text)) throw new Error(`COPY ${text}`);
  return { from, sources: paths, target };
}

function openStage(text: string): Stage {
  const [, base = '', name = null] = /^([\w:.-]+)(?: AS (\w+))?$/.exec(text) ?? [];
  if (base === '') throw new Error(`FROM ${text}`);
  const nothing = { workdir: '/', user: '', volume: '', port: 0, stopSignal: '' };
  return { base, name, ...nothing, steps: [], env: {}, labels: {}, health: [], entrypoint: [], command: [] };
}

const readers: Readonly<Record<string, (stage: Stage, text: string) => void>> = {
  COPY: ({ steps }, text) => steps.push({ kind: 'copy', ...readCopy(text) }),
  RUN(stage, text) {
    if (/^(--|\[)/.test(text)) throw new Error(`RUN ${text}`);
    stage.steps.push({ kind: 'run', script: text });
  },
  ENV({ env }, text) {
    const [name, value] = pair(text);
    env[name] = value;
  },
  LABEL({ labels }, text) {
    const [name, value] = pair(text);
    labels[name] = value;
  },
  WORKDIR(stage, text) {
    stage.workdir = text;
  },
  USER(stage, text) {
    stage.user = text;
  },
  VOLUME(stage, text) {
    stage.volume = text;
  },
  EXPOSE(stage, text) {
    stage.port = Number(text);
  },
  STOPSIGNAL(stage, text) {
    stage.stopSignal = text;
  },
  HEALTHCHECK(stage, text) {
    stage.health = words(/^(?:--\w+(?:-\w+)?=\w+ )*CMD (.+)$/.exec(text)?.[1] ?? '');
  },
  ENTRYPOINT(stage, text) {
    stage.entrypoint = words(text);
  },
  CMD(stage, text) {
    stage.command = words(text);
  },
};

/** @throws an error that quotes the line when it is not of a known form */
export function readDockerfile(text: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (\S.*)$/.exec(line) ?? [];
    if (instruction === 'FROM') {
      stages.push(openStage(rest));
      continue;
    }
    const [read, stage] = [readers[instruction], stages.at(-1)];
    if (read === undefined || stage === undefined || line.endsWith('\\')) throw new Error(`unknown: ${line}`);
    read(stage, rest);
  }
  return stages;
}

/** Whether a file of the checkout, by its path from there, reaches the build. The forms are `*`, `!PATH` and comments. */
export function isInContext(dockerignore: string, path: string): boolean {
  const rules = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const [first, ...others] = rules;
  if (first !== '*' || others.some((rule) => !/^![\w./-]+$/.test(rule))) throw new Error('unknown rule');
  return others.some((rule) => path === rule.slice(1) || path.startsWith(`${rule.slice(1)}/`));
}
