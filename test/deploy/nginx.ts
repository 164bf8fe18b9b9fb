/** A real nginx with the shipped file, below an `http` block like Debian's. */
import { mkdir, writeFile } from 'node:fs/promises';
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

const tool = 'nginx';

/** Where bodies and answers would go that nginx does not keep in memory. */
export const temporaryFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'] as const;

/** Debian's settings that reach into the shipped file, with more in the error log than is usual. */
function around(folder: string): string {
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr info;
events { worker_connections 256; }
http {
  ${temporaryFolders.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  sendfile on;
  tcp_nopush on;
  gzip on;
  access_log ${folder}/usual.log;
  include ${folder}/mayfly.conf;
}
`;
}

/** Serves below /vault alone, as the file explains. */
export const belowVault: readonly Change[] = [['location / {', 'location ~ ^/vault(/|$) {']];

export async function startNginx({ servers, changes = [] }: ProxyOptions): Promise<StartedProxy> {
  const shipped = changed(await readShipped('nginx.conf'), changes);
  return startProxy({
    command: tool,
    logFiles: ['mayfly.log', 'usual.log'],
    async prepare({ folder, httpPort, httpsPort }) {
      const here: Change[] = [
        ['\tlisten [::]:80 default_server;\n', ''],
        ['\tlisten [::]:443 ssl http2 default_server;\n', ''],
        ['listen 80 ', `listen 127.0.0.1:${httpPort} `],
        ['listen 443 ', `listen 127.0.0.1:${httpsPort} `],
        ['/var/log/nginx/mayfly.log', join(folder, 'mayfly.log')],
        ['/etc/letsencrypt/live/secrets.example.com/fullchain.pem', certificatePath],
        ['/etc/letsencrypt/live/secrets.example.com/privkey.pem', certificateKeyPath],
        [
          'server 127.0.0.1:3000 max_fails=0;',
          servers.map((server) => `server ${server} max_fails=0;`).join('\n'),
        ],
      ];
      await Promise.all(temporaryFolders.map((name) => mkdir(join(folder, name))));
      await writeFile(join(folder, 'mayfly.conf'), changed(shipped, here));
      await writeFile(join(folder, 'nginx.conf'), around(folder));
      return ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
    },
  });
}
