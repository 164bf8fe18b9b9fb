/** The chart in deploy/helm: what it makes of its values, against what Mayfly and Kubernetes need. */
import { describe, expect, it } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { commands } from '../../src/cli/commands.ts';
import { readConfig } from '../../src/config/read.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
import { repositoryRoot, startServer } from '../support/started-server.ts';
import { openCommandFolder } from './ci-bench.ts';
import { ChartRefusal, type Data, type Manifest, type Release, renderChart, renderNotes } from './helm.ts';
import { everything, needed } from './helm-values.ts';

const amounts = z.object({
  requests: z.object({ cpu: z.string(), memory: z.string() }),
  limits: z.object({ memory: z.string() }),
});
const container = z.looseObject({
  image: z.string(),
  command: z.array(z.string()),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
  resources: amounts,
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
});
const podSpec = z.looseObject({
  // Variables of other Services begin like settings, and the token is of no use to Mayfly.
  enableServiceLinks: z.literal(false),
  automountServiceAccountToken: z.literal(false),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), fsGroup: z.literal(10_001) }),
  initContainers: z.array(container).default([]),
  containers: z.tuple([container]),
  volumes: z.array(z.looseObject({ name: z.string() })),
});
const labels = z.record(z.string(), z.string());
const namedMetadata = z.looseObject({ name: z.string(), labels, annotations: labels.default({}) });
const template = z.object({
  metadata: z.looseObject({ labels, annotations: labels.default({}) }),
  spec: podSpec,
});
const deployment = z.object({
  spec: z.looseObject({ selector: z.object({ matchLabels: labels }), template }),
});

const kinds = (manifests: readonly Manifest[]) => manifests.map(({ kind }) => String(kind)).sort();
const ofKind = (kind: string, changes: Data = {}, release: Release = {}) =>
  renderChart({ ...needed, ...changes }, release).find((each) => each.kind === kind);
const nodesOf = (changes: Data = {}) => deployment.parse(ofKind('Deployment', changes)).spec;
const podOf = (changes: Data = {}) => nodesOf(changes).template.spec;

/** Every pod of the chart, with its labels. */
const podsOf = (changes: Data) =>
  renderChart(changes).flatMap((manifest) => {
    if (manifest.kind === 'Pod') return [template.parse(manifest)];
    const { spec } = z
      .looseObject({ spec: z.looseObject({ template: z.unknown().optional() }).optional() })
      .parse(manifest);
    return spec?.template === undefined ? [] : [template.parse(spec.template)];
  });

const isOf = (selector: Record<string, string>, pod: { metadata: { labels: Record<string, string> } }) =>
  Object.entries(selector).every(([name, value]) => pod.metadata.labels[name] === value);

describe('the chart', () => {
  it('makes nodes, a service and a budget for disruptions, and the rest when asked', () => {
    expect(kinds(renderChart(needed))).toEqual([
      ...['Deployment', 'Job', 'Pod', 'PodDisruptionBudget', 'Service'],
    ]);
    expect(kinds(renderChart(everything))).toEqual([
      ...['ConfigMap', 'Deployment', 'HorizontalPodAutoscaler', 'Ingress', 'Job', 'NetworkPolicy', 'Pod'],
      ...['PodDisruptionBudget', 'PodMonitor', 'Service', 'Service', 'ServiceAccount'],
    ]);
    expect(ofKind('Ingress', everything)).toMatchObject({
      metadata: { annotations: { 'nginx.ingress.kubernetes.io/proxy-next-upstream': 'off' } },
      spec: { rules: [{ host: 'secrets.example.com' }], tls: [{ secretName: 'certificate' }] },
    });
  });

  it('refuses, in words, without what only the operator knows, and what cannot work', () => {
    const without = (name: string) =>
      Object.fromEntries(Object.entries(needed).filter(([each]) => each !== name));
    const set = (settings: Data) => ({ ...needed, ...settings });
    for (const [values, words] of [
      [without('baseUrl'), 'Set baseUrl'],
      [without('store'), 'Set store.secretName'],
      [without('rootKeys'), 'Set rootKeys.secretName'],
      [set({ ingress: { enabled: true } }), 'Set ingress.host'],
      [set({ metrics: { podMonitor: { enabled: true } } }), 'Set metrics.enabled too'],
      [set({ metrics: { enabled: true, port: 3000 } }), 'Set metrics.port to another port than 3000'],
      [set({ settings: { MAYFLY_DATA_DIR: '/srv' } }), 'Leave MAYFLY_DATA_DIR out'],
      [
        set({ secretSettings: { MAYFLY_STORE: { secretName: 'a', secretKey: 'b' } } }),
        'Leave MAYFLY_STORE out',
      ],
    ] as const) {
      expect(() => renderChart(values)).toThrow(ChartRefusal);
      expect(() => renderChart(values)).toThrow(words);
    }
  });

  it('leads services, budget, policy, monitor and spread to its nodes, and to no other pod', () => {
    const { selector } = nodesOf(everything);
    const [, ...others] = podsOf(everything).sort((a) => (isOf(selector.matchLabels, a) ? -1 : 1));
    expect(others.length).toBeGreaterThan(0);
    for (const pod of others) expect(isOf(selector.matchLabels, pod)).toBe(false);
    const services = renderChart(everything).filter(({ kind }) => kind === 'Service');
    for (const service of services)
      expect(service).toMatchObject({ spec: { selector: selector.matchLabels } });
    for (const kind of ['PodDisruptionBudget', 'PodMonitor'])
      expect(ofKind(kind, everything)).toMatchObject({ spec: { selector } });
    expect(ofKind('NetworkPolicy', everything)).toMatchObject({ spec: { podSelector: selector } });
    expect(podOf()).toMatchObject({ topologySpreadConstraints: [{ labelSelector: selector }] });
  });

  it('confines every pod, gives it resources for a quota, and mounts what there is', () => {
    for (const values of [needed, everything])
      for (const { spec } of podsOf(values)) {
        const containers = [...spec.initContainers, ...spec.containers];
        const mounts = containers.flatMap(({ volumeMounts }) => volumeMounts);
        const volumes = spec.volumes.map(({ name }) => name);
        for (const { name } of mounts) expect(volumes).toContain(name);
        // A volume of the operator's is for the nodes; every pod that opens the store may need it.
        for (const name of volumes) expect(mounts.map((mount) => mount.name)).toContain(name);
      }
    for (const { spec } of podsOf(everything))
      expect(spec).toMatchObject({
        imagePullSecrets: [{ name: 'registry' }],
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'dedicated' }],
        priorityClassName: 'high',
      });
    expect(podOf(everything)).toMatchObject({ affinity: { nodeAffinity: {} }, serviceAccountName: 'mayfly' });
  });

  it('runs commands that there are, and no core dump', () => {
    const known = commands.map(({ path }) => path.join(' '));
    for (const { spec } of podsOf(everything))
      for (const { command } of spec.containers) {
        const [, called = ''] = /mayfly (.*)$/.exec(command.join(' ')) ?? [];
        expect(known).toContain(called);
      }
    const [{ command }] = podOf().containers;
    expect(command).toEqual(['sh', '-c', 'ulimit -c 0; exec mayfly serve']);
  });

  it('gives the key file to its owner alone', () => {
    expect(podOf().initContainers[0]?.command).toEqual([
      'install',
      '--mode=0600',
      '/run/mayfly-keys/keys.json',
      '/var/lib/mayfly/keys.json',
    ]);
    const dockerfile = readFileSync(join(repositoryRoot, 'Dockerfile'), 'utf8');
    expect(dockerfile).toContain('ENV MAYFLY_DATA_DIR=/var/lib/mayfly\n');
    expect(dockerfile).toContain('WORKDIR /var/lib/mayfly\n');
    expect(dockerfile).toContain('USER 10001:10001\n');
  });

  it('gives the nodes settings that Mayfly accepts, the authority and files of the operator among them (P25)', () => {
    const spec = podOf(everything);
    const [{ env, volumeMounts }] = spec.containers;
    expect(env.find(({ name }) => name === 'MAYFLY_SMTP_URL')).toMatchObject({
      valueFrom: { secretKeyRef: { name: 'mail', key: 'url' } },
    });
    const files: Record<string, string> = {
      '/run/mayfly-store/url':
        'postgres://mayfly:password@database.example/mayfly?sslrootcert=/run/mayfly-store/ca.crt',
      '/run/mayfly-store/ca.crt': '-----BEGIN CERTIFICATE-----',
    };
    expect(spec.volumes.find(({ name }) => name === 'store')).toMatchObject({
      projected: {
        sources: [
          { secret: { name: 'store-of-ours', items: [{ key: 'url', path: 'url' }] } },
          { secret: { name: 'database-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        ],
      },
    });
    const { data } = z.looseObject({ data: labels }).parse(ofKind('ConfigMap', everything));
    expect(volumeMounts).toContainEqual({ name: 'files', mountPath: '/etc/mayfly', readOnly: true });
    for (const [name, content] of Object.entries(data)) files[`/etc/mayfly/${name}`] = content;
    const plain = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
    const read = readConfig(Object.fromEntries(plain), (path) => files[path] ?? expect.unreachable(path));
    if (read.outcome === 'refused') throw new Error(read.refusals.join('\n'));
    const { settings } = read;
    expect(settings).toMatchObject({ baseUrl: needed.baseUrl, internalPort: 9090, internalHost: '0.0.0.0' });
    expect(settings).toMatchObject({ store: { tls: { ca: '-----BEGIN CERTIFICATE-----' } } });
    expect(settings).toMatchObject({ plans: { identity: { maxDomains: 20 } } });
    expect(settings.rateLimits).toMatchObject({ create: { account: { limit: 2_400_000, burst: 2000 } } });
    expect(files[settings.brandFile ?? '']).toBe(JSON.stringify(everything.brand));
  });

  it('restarts the nodes when a file of theirs changes, and only then', () => {
    const checksum = (changes: Data) => nodesOf(changes).template.metadata.annotations['checksum/files'];
    const seen = [{}, { brand: { name: 'A' } }, { brand: { name: 'B' } }, { plans: { name: 'A' } }].map(
      checksum,
    );
    expect(new Set(seen).size).toBe(seen.length);
    expect(checksum({ podLabels: { tier: 'web' } })).toBe(seen[0]);
    expect(nodesOf(everything).template.metadata.annotations).toMatchObject(everything.podAnnotations);
  });

  it('opens the metrics to Prometheus, and to nobody whom the policy leaves out', () => {
    const [{ ports }] = podOf(everything).containers;
    expect(ports).toEqual([
      { name: 'http', containerPort: 3000 },
      { name: 'metrics', containerPort: 9090 },
    ]);
    expect(ofKind('PodMonitor', everything)).toMatchObject({
      apiVersion: 'monitoring.coreos.com/v1',
      metadata: { labels: { release: 'prometheus' } },
      spec: { podMetricsEndpoints: [{ port: 'metrics', path: '/metrics', interval: '30s' }] },
    });
    const ofTest = {
      matchLabels: { 'app.kubernetes.io/name': 'mayfly-ready', 'app.kubernetes.io/instance': 'mayfly' },
    };
    const [test] = podsOf(everything).filter(({ spec }) => spec.containers[0].command.includes('health'));
    expect(test?.metadata.labels).toMatchObject(ofTest.matchLabels);
    expect(ofKind('NetworkPolicy', everything)).toMatchObject({
      spec: {
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          { ports: [{ port: 'http' }], from: [{ podSelector: ofTest }, ...everything.networkPolicy.from] },
          { ports: [{ port: 'metrics' }], from: everything.networkPolicy.metricsFrom },
        ],
        egress: everything.networkPolicy.egress,
      },
    });
    const open = ofKind('NetworkPolicy', { networkPolicy: { enabled: true } });
    expect(open).toMatchObject({
      spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 'http' }] }] },
    });
    expect(podOf().containers[0].ports).toEqual([{ name: 'http', containerPort: 3000 }]);
  });

  it('brings the tables up to date before the nodes, with nothing that the chart makes later', () => {
    const job = ofKind('Job', everything);
    expect(job).toMatchObject({
      metadata: { annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade' } },
      spec: { activeDeadlineSeconds: 3600, template: { spec: { restartPolicy: 'Never' } } },
    });
    const { spec } = z.looseObject({ spec: z.looseObject({ template }) }).parse(job).spec.template;
    expect(spec).not.toHaveProperty('serviceAccountName');
    const [{ command, env }] = spec.containers;
    expect(command).toEqual(['mayfly', 'migrate']);
    expect(JSON.stringify(env)).not.toContain('/etc/mayfly');
    const made = renderChart(everything).filter(({ kind }) => kind === 'ConfigMap');
    expect(made.length).toBe(1);
    const volumes = spec.volumes.filter(({ configMap }) => configMap !== undefined);
    expect(volumes).toEqual(everything.extraVolumes);
    expect(ofKind('Job', { migration: { enabled: false } })).toBeUndefined();
  });

  it('leaves the number of nodes to the autoscaler where there is one', () => {
    expect(nodesOf()).toMatchObject({ replicas: 3 });
    expect(nodesOf(everything)).not.toHaveProperty('replicas');
    expect(ofKind('HorizontalPodAutoscaler', everything)).toMatchObject({
      apiVersion: 'autoscaling/v2',
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'mayfly' }, minReplicas: 3, maxReplicas: 6 },
    });
  });

  it.each([
    ['mayfly', {}, 'mayfly'],
    ['secrets', {}, 'secrets-mayfly'],
    ['my-mayfly', {}, 'my-mayfly'],
    ['secrets', { nameOverride: 'vault' }, 'secrets-vault'],
    ['secrets', { fullnameOverride: 'secrets' }, 'secrets'],
    ['s'.repeat(53), {}, 's'.repeat(50)],
  ] as const)(
    'names everything in the release %s with %o after it and itself: %s',
    (name, changes, expected) => {
      const manifests = renderChart({ ...everything, ...changes }, { name });
      const names = manifests.map((manifest) => {
        const { metadata: own } = z.looseObject({ metadata: namedMetadata }).parse(manifest);
        expect(own.labels).toMatchObject({ 'app.kubernetes.io/instance': name, team: 'operations' });
        return own.name;
      });
      for (const each of names) expect(each).toMatch(new RegExp(`^${expected}(-metrics|-ready|-migrate)?$`));
      for (const each of names) expect(each.length).toBeLessThanOrEqual(63);
    },
  );

  it('gives a stop as long as Mayfly takes, after the service has forgotten the node', () => {
    const main = readFileSync(join(repositoryRoot, 'src/main.ts'), 'utf8');
    const stopMs = Number((/^const stopLimitMs = ([\d_]+);$/m.exec(main)?.[1] ?? '').replaceAll('_', ''));
    expect(stopMs).toBeGreaterThan(0);
    const pod = podOf();
    expect(pod.containers[0].lifecycle).toEqual({ preStop: { exec: { command: ['sleep', '5'] } } });
    expect(Number(pod.terminationGracePeriodSeconds) * 1_000).toBeGreaterThan(stopMs + 5_000);
  });

  it('tests an installation by a name that is not the address of its links', async () => {
    await using server = await startServer({ env: { MAYFLY_BASE_URL: 'https://secrets.example.com' } });
    const asked = requestBytes({ method: 'GET', path: '/readyz', headers: { Host: 'secrets-mayfly' } });
    expect((await sendOnce(server.port, asked)).status).toBe(200);
    const test = podsOf(needed).find(({ spec }) => spec.containers[0].command.includes('health'));
    const env = test?.spec.containers[0].env.map(({ name, value }) => [name, value]);
    expect(Object.fromEntries(env ?? [])).toEqual({ HOST: 'mayfly', PORT: '80' });
  });
});

describe('the notes', () => {
  it('change the root keys by commands that do so, and use no root that only one node has', async () => {
    await using server = await startServer();
    await using folder = await openCommandFolder();
    const live = join(server.dataDir, 'keys.json');
    const rootsIn = (text: string) => JSON.parse(text).roots.length;
    const rootsOfNode = () => rootsIn(readFileSync(live, 'utf8'));
    /** In the pod, whose key file is in its folder; what the operator keeps of it. */
    const run = (line: string): string => {
      const [inPod = ''] = line.split(/ > (?=keys\.json$)/);
      const env = { PATH: folder.path, MAYFLY_DATA_DIR: server.dataDir };
      const { status, stdout, stderr } = spawnSync('sh', ['-c', inPod], { cwd: server.dataDir, env });
      if (status !== 0) throw new Error(String(stderr));
      return String(stdout);
    };
    const exec = /^ {2}kubectl exec deployment\/mayfly --container mayfly -- (.*keys .*)$/;
    const [add = '', rotate = '', retire = '', ...others] = renderNotes(needed)
      .split('\n')
      .flatMap((line) => exec.exec(line)?.[1] ?? []);
    expect(others).toEqual([]);
    const added = run(add);
    expect([rootsIn(added), rootsOfNode()]).toEqual([2, 1]);
    // What the Secret and the restart do.
    writeFileSync(live, added, { mode: 0o600 });
    run(rotate);
    expect([rootsIn(run(retire)), rootsOfNode()]).toEqual([1, 1]);
    expect(readdirSync(server.dataDir)).not.toContain('next.json');
  }, 60_000);
});
