/** A real Apache with the shipped file, below a configuration like Debian's. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Change,
  certificateKeyPath,
  certificatePath,
  changed,
  type ProxyOptions,
  readShipped,
  type StartedProxy,
  site,
  startProxy,
} from './proxy.ts';

const tool = 'apache2';
const modules = '/usr/lib/apache2/modules';

/** What Debian enables by itself, what the shipped file asks for, and one with which a test says where a request comes from. */
const loaded = [
  ...['mpm_event', 'authz_core', 'alias', 'env', 'filter', 'deflate', 'reqtimeout'],
  ...['remoteip', 'setenvif', 'socache_shmcb', 'ssl', 'http2', 'headers', 'proxy', 'proxy_http'],
];

/** Debian's settings that reach into the shipped file, with more in the error log than is usual. */
function around(folder: string, httpPort: number, httpsPort: number): string {
  return `
${loaded.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
ServerRoot ${folder}
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
ServerName localhost
User www-data
Group www-data
Listen 127.0.0.1:${httpPort}
Listen 127.0.0.1:${httpsPort}
ErrorLog ${folder}/usual-error.log
LogLevel info
LogFormat "%v:%p %h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"" vhost_combined
CustomLog ${folder}/usual.log vhost_combined
AddOutputFilterByType DEFLATE text/html text/plain text/css application/javascript
Include ${folder}/mayfly.conf
`;
}

/** Serves below /vault alone, as the file explains. */
export const belowVault: readonly Change[] = [
  ['ProxyPass / http://127.0.0.1:3000/', 'ProxyPass /vault http://127.0.0.1:3000/vault'],
];

export async function startApache({ servers, changes = [] }: ProxyOptions): Promise<StartedProxy> {
  const shipped = changed(await readShipped('apache.conf'), changes);
  return startProxy({
    command: tool,
    logFiles: ['mayfly.log', 'usual.log', 'usual-error.log'],
    async prepare({ folder, httpPort, httpsPort }) {
      const here: Change[] = [
        ['<VirtualHost *:80>', `<VirtualHost 127.0.0.1:${httpPort}>`],
        ['<VirtualHost *:443>', `<VirtualHost 127.0.0.1:${httpsPort}>`],
        ['/var/log/apache2/mayfly.log', join(folder, 'mayfly.log')],
        ['/etc/letsencrypt/live/secrets.example.com/fullchain.pem', certificatePath],
        ['/etc/letsencrypt/live/secrets.example.com/privkey.pem', certificateKeyPath],
        ['secrets.example.com', site],
        ['http://127.0.0.1:3000', `http://${servers[0]}`],
      ];
      await writeFile(join(folder, 'mayfly.conf'), changed(shipped, here));
      await writeFile(join(folder, 'apache.conf'), around(folder, httpPort, httpsPort));
      return ['-X', '-f', join(folder, 'apache.conf')];
    },
  });
}
