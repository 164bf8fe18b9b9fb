/** The chart in deploy/helm: what it makes of its values, against what Mayfly and Kubernetes need. */
import { describe, expect, it } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readConfig } from '../../src/config/read.ts';
import { repositoryRoot } from '../support/started-server.ts';
import { ChartRefusal, renderChart } from './helm.ts';

const needed = {
  baseUrl: 'https://secrets.example.com',
  store: { secretName: 'store-of-ours' },
  rootKeys: { secretName: 'keys-of-ours' },
};

const mount = z.looseObject({ name: z.string(), mountPath: z.string() });
const container = z.looseObject({
  image: z.string(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  volumeMounts: z.array(mount),
  securityContext: z.looseObject({ readOnlyRootFilesystem: z.literal(true) }),
});
const deployment = z.object({
  spec: z.looseObject({
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.number(),
        initContainers: z.tuple([container]),
        containers: z.tuple([container]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});

const kinds = (manifests: readonly Record<string, unknown>[]) => manifests.map(({ kind }) => kind).sort();
const ofKind = (kind: string, changes: Record<string, unknown> = {}) =>
  renderChart({ ...needed, ...changes }).find((each) => each.kind === kind);
const podOf = (changes: Record<string, unknown> = {}) =>
  deployment.parse(ofKind('Deployment', changes)).spec.template.spec;

describe('the chart', () => {
  it('makes nodes, a service and a budget for disruptions; an ingress when asked', () => {
    expect(kinds(renderChart(needed))).toEqual(['Deployment', 'PodDisruptionBudget', 'Service']);
    const withIngress = renderChart({
      ...needed,
      ingress: { enabled: true, host: 'secrets.example.com', tlsSecretName: 'certificate' },
    });
    expect(kinds(withIngress)).toContain('Ingress');
    expect(withIngress.find(({ kind }) => kind === 'Ingress')).toMatchObject({
      metadata: { annotations: { 'nginx.ingress.kubernetes.io/proxy-next-upstream': 'off' } },
      spec: { rules: [{ host: 'secrets.example.com' }], tls: [{ secretName: 'certificate' }] },
    });
  });

  it('refuses, in words, without what only the operator knows', () => {
    for (const [missing, words] of [
      ['baseUrl', 'Set baseUrl'],
      ['store', 'Set store.secretName'],
      ['rootKeys', 'Set rootKeys.secretName'],
    ] as const) {
      const { [missing]: _left, ...others } = needed;
      expect(() => renderChart(others)).toThrow(ChartRefusal);
      expect(() => renderChart(others)).toThrow(words);
    }
  });

  it('leads the service, the budget and the spread to its own pods', () => {
    const { selector, template } = deployment.parse(ofKind('Deployment')).spec;
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    expect(ofKind('Service')).toMatchObject({ spec: { selector: selector.matchLabels } });
    expect(ofKind('PodDisruptionBudget')).toMatchObject({ spec: { selector } });
  });

  it('mounts what there is, and gives the key file to its owner alone', () => {
    const pod = podOf();
    const mounts = [...pod.initContainers, ...pod.containers].flatMap(({ volumeMounts }) => volumeMounts);
    expect(new Set(mounts.map(({ name }) => name))).toEqual(new Set(pod.volumes.map(({ name }) => name)));
    expect(pod.initContainers[0].command).toEqual([
      'install',
      '--mode=0600',
      '/run/mayfly-keys/keys.json',
      '/var/lib/mayfly/keys.json',
    ]);
    const dockerfile = readFileSync(join(repositoryRoot, 'Dockerfile'), 'utf8');
    expect(dockerfile).toContain('ENV MAYFLY_DATA_DIR=/var/lib/mayfly\n');
    expect(dockerfile).toContain('USER 10001:10001\n');
  });

  it('gives the nodes settings that Mayfly accepts, those of the operator among them (P25)', () => {
    const [{ env }] = podOf({
      trustedProxies: '10.0.0.0/8',
      settings: { MAYFLY_SIGNUP: 'closed' },
      secretSettings: { MAYFLY_SMTP_URL: { secretName: 'mail', secretKey: 'url' } },
    }).containers;
    expect(env.find(({ name }) => name === 'MAYFLY_SMTP_URL')).toMatchObject({
      valueFrom: { secretKeyRef: { name: 'mail', key: 'url' } },
    });
    const plain = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
    const { MAYFLY_STORE_FILE: mounted, ...settings } = Object.fromEntries(plain);
    expect(mounted).toBe('/run/mayfly-store/url');
    const read = readConfig({
      ...settings,
      MAYFLY_STORE: 'postgres://mayfly:password@database.example/mayfly',
    });
    expect(read).toMatchObject({ outcome: 'read', settings: { baseUrl: needed.baseUrl } });
  });

  it('gives a stop as long as Mayfly takes, after the service has forgotten the node', () => {
    const main = readFileSync(join(repositoryRoot, 'src/main.ts'), 'utf8');
    const stopMs = Number((/^const stopLimitMs = ([\d_]+);$/m.exec(main)?.[1] ?? '').replaceAll('_', ''));
    expect(stopMs).toBeGreaterThan(0);
    const pod = podOf();
    expect(pod.containers[0].lifecycle).toEqual({ preStop: { exec: { command: ['sleep', '5'] } } });
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(stopMs + 5_000);
  });
});
