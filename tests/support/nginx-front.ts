// nginx with TLS in front of a whole platform: one port for shell, apps, backends and public names, each told apart by its
// host, while the platform listens on ports that nobody outside sees.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateFor, FRONT_ADDRESS } from './tls-front.ts';
import { until } from './wait.ts';

export interface NginxFront {
  readonly certificate: string;
  /** As Chromium's `--ignore-certificate-errors-spki-list` takes it. */
  readonly keyHash: string;
  stop(): Promise<void>;
}

/** @param upstreams the port at 127.0.0.1 for each host, `*.` allowed */
export async function startNginxFront(port: number, upstreams: Readonly<Record<string, number>>): Promise<NginxFront> {
  const { key, cert, keyHash } = await certificateFor(Object.keys(upstreams));
  const folder = mkdtempSync(join(tmpdir(), 'pt-nginx-front-'));
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 });
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, upstreams));
  const args = ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')];
  const child = spawn('nginx', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-4_000);
  });
  await until('nginx listens', async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
    return isListening(port);
  });
  return {
    certificate: cert,
    keyHash,
    async stop() {
      await ended(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, port: number, upstreams: Readonly<Record<string, number>>): string {
  const servers = Object.entries(upstreams).map(
    ([name, upstream]) => `
    server {
      listen ${FRONT_ADDRESS}:${port} ssl;
      server_name ${name};
      location / {
        proxy_pass http://127.0.0.1:${upstream};
        proxy_http_version 1.1;
        # With the port, unlike $host.
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $platform_connection;
        proxy_buffering off;
        proxy_request_buffering off;
        proxy_next_upstream off;
      }
    }`,
  );
  return `
    daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 1024; }
    http {
      access_log off; client_max_body_size 100m; server_names_hash_bucket_size 128;
      client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
      uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
      ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
      map $http_upgrade $platform_connection { default upgrade; '' ''; }
      ${servers.join('\n')}
    }`;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, FRONT_ADDRESS);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
