/** A real HAProxy with the shipped file. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Change,
  certificateKeyPath,
  certificatePath,
  changed,
  type ProxyOptions,
  readShipped,
  type StartedProxy,
  startProxy,
} from './proxy.ts';

const tool = 'haproxy';

/** Serves below /vault alone, as the file explains. */
export const belowVault: readonly Change[] = [
  ['\tdefault_backend once\n', '\tuse_backend once if { path /vault } or { path_beg /vault/ }\n'],
];

export async function startHaproxy({ servers, changes = [] }: ProxyOptions): Promise<StartedProxy> {
  const shipped = changed(await readShipped('haproxy.cfg'), changes);
  return startProxy({
    command: tool,
    logFiles: [],
    async prepare({ folder, httpPort, httpsPort }) {
      const pair = join(folder, 'certificate.pem');
      const here: Change[] = [
        ['\tchroot /var/lib/haproxy\n\tuser haproxy\n\tgroup haproxy\n', ''],
        ['\tbind [::]:80 v6only\n', ''],
        ['\tbind [::]:443 v6only ssl crt /etc/haproxy/certs/ alpn h2,http/1.1\n', ''],
        ['bind 0.0.0.0:80\n', `bind 127.0.0.1:${httpPort}\n`],
        ['bind 0.0.0.0:443 ssl crt /etc/haproxy/certs/ ', `bind 127.0.0.1:${httpsPort} ssl crt ${pair} `],
        ['abns@mayfly', `abns@mayfly-${httpsPort}`],
        [
          'server mayfly 127.0.0.1:3000',
          servers.map((server, at) => `server mayfly${at} ${server}`).join('\n\t'),
        ],
      ];
      const parts = [certificatePath, certificateKeyPath].map((path) => readFile(path, 'utf8'));
      await writeFile(pair, (await Promise.all(parts)).join(''));
      await writeFile(join(folder, 'haproxy.cfg'), changed(shipped, here));
      return ['-db', '-f', join(folder, 'haproxy.cfg')];
    },
  });
}
