/** The Dockerfile and the compose files, without an engine: what they say is replayed, run and compared with the product. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { commands } from '../../src/cli/commands.ts';
import { readConfig } from '../../src/config/read.ts';
import { repositoryRoot } from '../support/started-server.ts';
import { shippedCaddyfile } from './caddy.ts';
import { type Container, replayBuild, replayFinal, startContainer } from './container.ts';
import { isInContext, readDockerfile, type Stage } from './dockerfile.ts';
import { unknownSettingsIn } from './settings-named.ts';

setDefaultTimeout(120_000);

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const dockerfile = read('Dockerfile');
const stages = readDockerfile(dockerfile);

function stageAt(index: number): Stage {
  const stage = stages.at(index);
  if (stage === undefined) throw new Error('no such stage');
  return stage;
}
const [build, final] = [stageAt(0), stageAt(-1)];

/** A list or map of compose that may be absent. */
const listed = z.array(z.string()).default([]);
const service = z.strictObject({
  build: z.string().optional(),
  image: z.string().optional(),
  restart: z.string().optional(),
  environment: z.record(z.string(), z.string().nullable()),
  ports: listed,
  volumes: listed,
  read_only: z.boolean().optional(),
  tmpfs: listed,
  cap_drop: listed,
  cap_add: listed,
  security_opt: listed,
  ulimits: z.record(z.string(), z.number()).optional(),
  stop_grace_period: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  networks: z.record(z.string(), z.object({ ipv4_address: z.string() })).optional(),
});
const composeFile = z.strictObject({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()).default({}),
  networks: z.object({ default: z.object({ ipam: z.unknown() }) }).optional(),
});

const compose = composeFile.parse(Bun.YAML.parse(read('compose.yaml')));
const withCaddy = composeFile.parse(Bun.YAML.parse(read('deploy/compose.caddy.yaml')));
const withUpstream = composeFile.parse(Bun.YAML.parse(read('deploy/compose.upstream.yaml')));

function serviceOf(file: z.infer<typeof composeFile>, name: string): z.infer<typeof service> {
  const found = file.services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}
const [alone, upstream, behind, caddy] = [
  serviceOf(compose, 'mayfly'),
  serviceOf(withUpstream, 'upstream'),
  serviceOf(withCaddy, 'mayfly'),
  serviceOf(withCaddy, 'caddy'),
];
const tmpOptions = /^\/tmp:(.+)$/.exec(alone.tmpfs[0] ?? '')?.[1] ?? '';

let folder = '';
let container: Container | undefined;

function running(): Container {
  if (container === undefined) throw new Error('no container');
  return container;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-container-'));
  const built = join(folder, 'build');
  mkdirSync(built);
  replayBuild(build, built);
  const modules = join(repositoryRoot, 'node_modules', '@node-rs');
  const native = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.node'))
    .map((name) => join(modules, name));
  replayFinal(final, folder, { folder: built, workdir: build.workdir }, native);
  container = startContainer(final, folder, tmpOptions);
  await container.ready();
});
afterAll(async () => {
  await container?.[Symbol.asyncDispose]();
  if (folder !== '') rmSync(folder, { recursive: true });
});

const origin = `http://127.0.0.1:${final.port}`;

function share({ curl }: Container): string {
  return curl(`${origin}/api/v1/share`, '--data', 'secret=open sesame', '--data', 'passphrase=thyme');
}

describe('the Dockerfile', () => {
  it('self-test: a form that is not replayed is refused', () => {
    for (const line of ['ADD x y', 'COPY *.json ./', 'RUN ["sh"]', 'RUN true \\', 'ENV A=1 B=2', 'USER'])
      expect(() => readDockerfile(`FROM debian:bookworm-slim\n${line}`)).toThrow();
  });

  it('copies only what there is and what reaches the build', () => {
    const copied = build.steps.flatMap((step) => (step.kind === 'copy' ? step.sources : []));
    const ignore = read('.dockerignore');
    expect(copied.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
    expect(copied.filter((path) => !isInContext(ignore, path))).toEqual([]);
    for (const secret of ['.env', '.git', 'data', 'node_modules', 'dist'])
      expect(isInContext(ignore, secret)).toBe(false);
  });

  it('runs commands, with settings, that there are', () => {
    const names = commands.map(({ path }) => path.join(' '));
    expect(names).toContain(final.command.join(' '));
    expect(final.health.slice(0, 1)).toEqual([...final.entrypoint]);
    expect(names).toContain(final.health.slice(1).join(' '));
    expect(unknownSettingsIn(dockerfile)).toEqual([]);
  });

  it('says what an engine and a registry want to know', () => {
    expect(final.stopSignal).toBe('SIGTERM');
    expect(final.user).toMatch(/^[1-9]\d+:[1-9]\d+$/);
    expect(final.env).toMatchObject({ HOST: '0.0.0.0', MAYFLY_DATA_DIR: final.volume });
    const manifest = z.object({ license: z.string() }).parse(JSON.parse(read('package.json')));
    expect(final.labels['org.opencontainers.image.licenses']).toBe(manifest.license);
  });
});

describe('the container', () => {
  it('answers, shares and reveals once, with a passphrase', () => {
    const { curl } = running();
    expect(curl(`${origin}/readyz`)).toBe('{"status":"ok"}');
    const { secret_key: key } = z.object({ secret_key: z.string() }).parse(JSON.parse(share(running())));
    const reveal = () => curl(`${origin}/api/v1/secret/${key}`, '--data', 'passphrase=thyme');
    expect(JSON.parse(reveal())).toMatchObject({ value: 'open sesame' });
    expect(reveal()).toContain('Unknown secret');
  });

  it('is process 1, not root, without capabilities', () => {
    const status = readFileSync(`/proc/${running().pid()}/status`, 'utf8');
    const [user] = final.user.split(':');
    expect(status).toContain(`Uid:\t${user}\t${user}\t${user}\t${user}\n`);
    expect(status).toMatch(/NSpid:\t\d+\t1\n/);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      expect(status).toContain(`Cap${set}:\t0000000000000000\n`);
    expect(status).toContain('NoNewPrivs:\t1\n');
  });

  it('writes to its volume, and the native part of the runtime to /tmp, nowhere else', () => {
    const pid = running().pid();
    const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').trim().split('\n');
    const fields = mounts.map((line) => line.split(' '));
    const writable = fields.filter(([, , , , , options = '']) => options.startsWith('rw'));
    const places = writable.map(([, , , , place]) => place);
    expect(places.sort()).toEqual(['/dev/null', '/dev/urandom', '/proc', '/tmp', final.volume]);
    const inTmp = readdirSync(join('/proc', `${pid}`, 'root', 'tmp'));
    expect(inTmp.filter((name) => !/^\.bun-.+\.node$/.test(name))).toEqual([]);
    expect(inTmp).toHaveLength(1);
    expect(readdirSync(join(folder, 'volume'))).toContain('mayfly.db');
  });

  it('runs without the last tier of the compiler', () => {
    expect(readFileSync(`/proc/${running().pid()}/environ`, 'utf8').split('\0')).toContain(
      'BUN_JSC_useFTLJIT=0',
    );
  });

  it('is healthy while it runs, whatever proxy it was given', () => {
    expect(running().exec(final.health, { HTTP_PROXY: 'http://127.0.0.1:1' })).toEqual({
      status: 0,
      output: 'ready\n',
    });
  });

  it('self-test: is not healthy where no server listens', () => {
    expect(running().exec(final.health, { PORT: '3999' }).status).toBe(1);
  });

  it("runs operators' commands beside the server", () => {
    const { exec } = running();
    const created = exec([...final.entrypoint, 'account', 'create', 'jo@example.com', '--json']);
    expect(JSON.parse(created.output)).toMatchObject({ username: 'jo@example.com' });
    expect(exec([...final.entrypoint, 'account', 'list']).output).toContain('jo@example.com');
  });

  it('ends well at the signal, keeps its volume, and needs a /tmp that may run code', async () => {
    const { pid, exited } = running();
    process.kill(pid(), final.stopSignal as NodeJS.Signals);
    expect(await exited).toEqual({ code: 0, signal: null });
    await using again = startContainer(final, folder, tmpOptions.replace('exec', 'noexec'));
    await again.ready();
    expect(again.exec([...final.entrypoint, 'account', 'list']).output).toContain('jo@example.com');
    expect(share(again)).toContain('An unexpected error occurred');
  });
});

/** What compose puts in place of `${NAME:-default}` and `${NAME:?words}`. */
function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(
    /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}/g,
    (_all, name: string, other = '') => values[name] ?? other,
  );
}

/** The environment that the service's settings are read from. */
function environmentOf(
  layers: readonly (typeof alone.environment)[],
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = Object.entries(Object.assign({}, final.env, ...layers) as typeof alone.environment);
  const given = all.map(
    ([name, text]) => [name, text === null ? values[name] : fillIn(text, values)] as const,
  );
  return Object.fromEntries(given.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));
}

const secondsOf = (text = '') => Number(/^(\d+)s$/.exec(text)?.[1]);

describe('the compose files', () => {
  it('give the container what it needs, and nothing more', () => {
    expect(alone).toMatchObject({ read_only: true, cap_drop: ['ALL'], cap_add: [], ulimits: { core: 0 } });
    expect(alone.security_opt).toEqual(['no-new-privileges:true']);
    expect(alone.tmpfs).toHaveLength(1);
    expect(tmpOptions.split(',')).toContain('exec');
    expect(alone.ports).toEqual([`127.0.0.1:${final.port}:${final.port}`]);
    expect(alone.volumes).toEqual([`data:${final.volume}`]);
    expect(Object.keys(compose.volumes)).toEqual(['data']);
    expect(alone.build).toBe('.');
    const stopLimitMs = /^const stopLimitMs = ([\d_]+);$/m.exec(read('src/main.ts'))?.[1] ?? '';
    expect(secondsOf(alone.stop_grace_period) * 1_000).toBeGreaterThan(
      Number(stopLimitMs.replaceAll('_', '')),
    );
  });

  it('start with settings that Mayfly accepts, given little or all of them', () => {
    const all = {
      MAYFLY_BASE_URL: 'https://secrets.example.com',
      MAYFLY_TRUSTED_PROXIES: '172.17.0.1',
      MAYFLY_SIGNUP: 'open',
      MAYFLY_SMTP_URL: 'smtps://user:password@mail.example.com',
      MAYFLY_MAIL_FROM: 'Secrets <secrets@example.com>',
      MAYFLY_MAX_STORAGE: '1GiB',
    };
    for (const values of [{}, all]) {
      const environment = environmentOf([alone.environment], values);
      expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(values)));
      expect(readConfig(environment)).toMatchObject({ outcome: 'read' });
    }
    const site = { MAYFLY_SITE: 'secrets.example.com' };
    const reading = readConfig(environmentOf([alone.environment, behind.environment], site));
    expect(reading).toMatchObject({
      outcome: 'read',
      settings: { baseUrl: 'https://secrets.example.com', internalHost: '0.0.0.0', internalPort: 9_090 },
    });
  });

  it('self-test: a setting that Mayfly does not have would be refused', () => {
    const wrong = { ...alone.environment, MAYFLY_SITE: 'secrets.example.com' };
    expect(readConfig(environmentOf([wrong], {}))).toMatchObject({ outcome: 'refused' });
  });

  it('lead Caddy to Mayfly, and Mayfly to believe Caddy alone', () => {
    const placeholders = [...readFileSync(shippedCaddyfile, 'utf8').matchAll(/\{\$([A-Z_]+)/g)];
    expect(
      Object.keys(caddy.environment).filter((name) => !placeholders.some(([, each]) => each === name)),
    ).toEqual([]);
    expect(caddy.environment).toMatchObject({
      MAYFLY_UPSTREAM: `mayfly:${final.port}`,
      MAYFLY_INTERNAL: `mayfly:${behind.environment.MAYFLY_INTERNAL_PORT}`,
    });
    const address = caddy.networks?.default?.ipv4_address ?? '';
    expect(behind.environment.MAYFLY_TRUSTED_PROXIES).toBe(address);
    const subnet = `${address.split('.').slice(0, 3).join('.')}.0/24`;
    expect(withCaddy.networks?.default.ipam).toEqual({ config: [{ subnet }] });
    expect(caddy.depends_on?.mayfly?.condition).toBe('service_healthy');
    // The internal port is for the network of these two.
    expect(behind.ports).toEqual([]);
  });

  it('start a second server with the upstream dialects beside the first, on its folder and as confined', () => {
    const { environment, ports, volumes, depends_on } = upstream;
    const { build } = alone;
    const own = { build, environment: alone.environment, ports: alone.ports, volumes: alone.volumes };
    const asFirst: typeof alone = { ...upstream, ...own, depends_on: undefined };
    expect(asFirst).toEqual({ ...alone, depends_on: undefined });
    expect(Object.keys(withUpstream.services)).toEqual(['upstream']);
    expect(depends_on?.mayfly?.condition).toBe('service_healthy');
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(alone.environment)));
    expect(environment.MAYFLY_BASE_URL).toBe(alone.environment.MAYFLY_BASE_URL ?? null);
    expect(ports).toEqual([`127.0.0.1:3001:${final.port}`]);
    const [folder, plans] = volumes;
    expect(folder).toBe(alone.volumes[0]);
    const [source = '', mounted = ''] = plans?.split(':') ?? [];
    const given = environmentOf([environment], {});
    const readText = (path: string) => read(path === mounted ? source : path);
    expect(readConfig(given, readText)).toMatchObject({
      outcome: 'read',
      settings: {
        v1Dialect: 'upstream',
        v2Dialect: 'upstream',
        plans: { anonymous: { maxValueBytes: 100_000 } },
      },
    });
  });

  it('mount files and volumes that there are', () => {
    const sources = caddy.volumes.map((volume) => volume.split(':')[0] ?? '');
    const files = sources.filter((source) => source.startsWith('.'));
    expect(files).toEqual(['./deploy/Caddyfile']);
    expect(files.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
    const names = sources.filter((source) => !source.startsWith('.'));
    expect(Object.keys(withCaddy.volumes)).toEqual(names);
  });
});
