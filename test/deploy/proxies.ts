/** A real nginx, HAProxy and Apache, each with the shipped file; nginx and Apache below settings like Debian's. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Change, certificateKeyPath, certificatePath, changed, proxyOf, site } from './proxy.ts';

/** Where bodies and answers would go that nginx does not keep in memory. */
export const temporaryFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'] as const;

/** Debian's settings that reach into the shipped file, with more in the error log than is usual. */
function aroundNginx(folder: string): string {
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

export const nginx = proxyOf({
  file: 'nginx.conf',
  command: 'nginx',
  logFiles: ['mayfly.log', 'usual.log'],
  belowVault: [['location / {', 'location ~ ^/vault(/|$) {']],
  async prepare(shipped, servers, { folder, httpPort, httpsPort }) {
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
    await writeFile(join(folder, 'nginx.conf'), aroundNginx(folder));
    return ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  },
});

export const haproxy = proxyOf({
  file: 'haproxy.cfg',
  command: 'haproxy',
  logFiles: [],
  belowVault: [
    ['\tdefault_backend once\n', '\tuse_backend once if { path /vault } or { path_beg /vault/ }\n'],
  ],
  async prepare(shipped, servers, { folder, httpPort, httpsPort }) {
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

const modules = '/usr/lib/apache2/modules';

/** What Debian enables by itself, what the shipped file asks for, and one with which a test says where a request comes from. */
const loaded = [
  ...['mpm_event', 'authz_core', 'alias', 'env', 'filter', 'deflate', 'reqtimeout'],
  ...['remoteip', 'setenvif', 'socache_shmcb', 'ssl', 'http2', 'headers', 'proxy', 'proxy_http'],
];

/** Debian's settings that reach into the shipped file, with more in the error log than is usual. */
function aroundApache(folder: string, httpPort: number, httpsPort: number): string {
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

export const apache = proxyOf({
  file: 'apache.conf',
  command: 'apache2',
  logFiles: ['mayfly.log', 'usual.log', 'usual-error.log'],
  belowVault: [['ProxyPass / http://127.0.0.1:3000/', 'ProxyPass /vault http://127.0.0.1:3000/vault']],
  async prepare(shipped, servers, { folder, httpPort, httpsPort }) {
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
    await writeFile(join(folder, 'apache.conf'), aroundApache(folder, httpPort, httpsPort));
    return ['-X', '-f', join(folder, 'apache.conf')];
  },
});
