/** Variables that Kubernetes or Docker put beside ours: every command runs with them as without, and a typo is still refused. */
import { describe, expect, it } from 'bun:test';
import { commands } from '../../src/cli/commands.ts';
import { type Environment, readConfig } from '../../src/config/read.ts';
import { runCli } from '../support/cli-world.ts';
import { startServer } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

const serviceLinks: Readonly<Record<string, string>> = {
  // The chart's own Service, where the release is named mayfly.
  MAYFLY_SERVICE_HOST: '10.96.3.4',
  MAYFLY_SERVICE_PORT: '80',
  MAYFLY_SERVICE_PORT_HTTP: '80',
  MAYFLY_PORT: 'tcp://10.96.3.4:80',
  MAYFLY_PORT_80_TCP: 'tcp://10.96.3.4:80',
  MAYFLY_PORT_80_TCP_PROTO: 'tcp',
  MAYFLY_PORT_80_TCP_PORT: '80',
  MAYFLY_PORT_80_TCP_ADDR: '10.96.3.4',
  // Services named mayfly-dns and mayfly-internal; the second makes the name of a setting.
  MAYFLY_DNS_PORT: 'udp://[fd00::4]:53',
  MAYFLY_DNS_PORT_53_UDP_ADDR: 'fd00::4',
  MAYFLY_DNS_PORT_9_SCTP: 'sctp://[fd00::4]:9',
  MAYFLY_DNS_SERVICE_PORT_DNS_UDP: '53',
  MAYFLY_INTERNAL_PORT: 'tcp://10.96.3.5:9090',
  // docker run --link mayfly:mayfly
  MAYFLY_NAME: '/client/mayfly',
  MAYFLY_PORT_3000_TCP_START: 'tcp://172.17.0.2:3000',
  MAYFLY_ENV_MAYFLY_DATA_DIR: '/var/lib/mayfly',
};

const typos: Readonly<Record<string, string>> = {
  MAYFLY_PORT: '8080',
  MAYFLY_INTERNAL_PORTS: '9090',
  MAYFLY_SERVICE_HOSTS: '10.96.3.4',
  MAYFLY_HOST: '0.0.0.0',
  MAYFLY_BASEURL: 'https://secrets.example.org',
  MAYFLY_NAME: 'Secrets',
  MAYFLY_ENV_HOST: '0.0.0.0',
  MAYFLY_STORE_PORT: '5432',
};

/** As the command's own example calls it, in a folder that nothing can be written to. */
async function runExample(example: string, env: Environment) {
  const [call = ''] = example.slice(example.indexOf('mayfly ') + 'mayfly '.length).split(/ [|>] /);
  const all = { MAYFLY_DATA_DIR: '/dev/null/mayfly', ...env };
  const run = await runCli(call.split(' '), { readConfig: async () => readConfig(all) }, 'hunter2');
  return { ...run, requests: run.requests.map(({ url }) => url) };
}

describe('service links', () => {
  it.each(commands.map(({ path, example }) => [path.join(' '), example] as const))(
    'change nothing for mayfly %s',
    async (_name, example) => {
      expect(await runExample(example, serviceLinks)).toEqual(await runExample(example, {}));
    },
  );

  it('hide no typo of a setting', async () => {
    for (const [name, value] of Object.entries(typos)) {
      const { code, err } = await runExample('mayfly serve', { [name]: value });
      expect([code, err]).toEqual([2, expect.stringContaining(`${name} is not a Mayfly setting.`)]);
    }
  });

  it.each([
    ['serve', {}, 'is ready'],
    ['router', { MAYFLY_REGIONS: 'us=http://us.localhost' }, 'routes on'],
  ] as const)('are named in one line of the log of mayfly %s', async (name, env, readyWords) => {
    await using server = await startServer({
      command: ['src/main.ts', name],
      readyWords,
      env: { MAYFLY_LOG_LEVEL: 'info', ...env, ...serviceLinks },
    });
    server.kill('SIGTERM');
    await server.exited;
    const logged = server
      .stdout()
      .split('\n')
      .filter((line) => line.includes('service_links_ignored'));
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'info', variables: Object.keys(serviceLinks) }),
    ]);
  });

  it('leave a container healthy', async () => {
    await using server = await startServer({ env: serviceLinks });
    const { code } = await mayfly(['health'], { PORT: String(server.port), ...serviceLinks });
    expect(code).toBe(0);
  });
});
