// The reverse proxies of docs/operations/proxies, each as its file there says, but on a loopback port and without TLS.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { until } from './wait.ts';

export const frontProxies = ['nginx', 'haproxy', 'caddy'] as const;
export type FrontProxyName = (typeof frontProxies)[number];

export interface FrontProxy {
  readonly port: number;
  stop(): Promise<void>;
}

interface Kind {
  readonly file: string;
  /** The file for this port and Ingress, with what a program of its own needs around it. */
  configure(text: string, place: Place): string;
  readonly command: (folder: string) => readonly [string, ...string[]];
}

interface Place {
  readonly port: number;
  readonly ingress: number;
  readonly domain: string;
  readonly folder: string;
}

/** What is documented is what is tested: an edit that no longer finds its place fails here. */
function replaced(text: string, ...pairs: readonly (readonly [from: string, to: string])[]): string {
  let result = text;
  for (const [from, to] of pairs) {
    if (!result.includes(from)) throw new Error(`the documented configuration has no "${from}"`);
    result = result.replaceAll(from, to);
  }
  return result;
}

const kinds: Readonly<Record<FrontProxyName, Kind>> = {
  nginx: {
    file: 'nginx.conf',
    configure: (text, { port, ingress, domain, folder }) => `
      daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
      events { worker_connections 1024; }
      http {
        access_log off; client_header_timeout 2s; client_body_timeout 2s; keepalive_timeout 2s; lingering_close off;
        client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
        uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
        ${replaced(
          text,
          ['listen 443 ssl http2;', `listen 127.0.0.1:${port};`],
          ['ssl_certificate     /etc/ssl/example-public.net.crt;', ''],
          ['ssl_certificate_key /etc/ssl/example-public.net.key;', ''],
          ['*.example-public.net', `*.${domain}`],
          ['127.0.0.1:8791', `127.0.0.1:${ingress}`],
        )}
      }`,
    command: (folder) => ['nginx', '-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/configuration`],
  },
  haproxy: {
    file: 'haproxy.cfg',
    configure: (text, { port, ingress }) =>
      replaced(
        text,
        [
          'bind :443 ssl crt /etc/ssl/example-public.net.pem alpn h2,http/1.1',
          `bind 127.0.0.1:${port}\n  timeout client 2s\n  timeout http-request 2s`,
        ],
        ['127.0.0.1:8791', `127.0.0.1:${ingress}`],
      ),
    command: (folder) => ['haproxy', '-db', '-f', `${folder}/configuration`],
  },
  caddy: {
    file: 'Caddyfile',
    configure: (text, { port, ingress, domain }) => `
{
	admin off
	auto_https off
	servers {
		timeouts {
			read_header 2s
			read_body 2s
			idle 2s
		}
	}
}
${replaced(
  text,
  ['https://*.example-public.net', `http://*.${domain}:${port}`],
  ['tls /etc/ssl/example-public.net.crt /etc/ssl/example-public.net.key', 'bind 127.0.0.1'],
  ['127.0.0.1:8791', `127.0.0.1:${ingress}`],
)}`,
    command: (folder) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', `${folder}/configuration`],
  },
};

/**
 * Starts one in front of an Ingress at this port, for the names below `domain`. Its time limits are short, since tests wait
 * for them.
 */
export async function startFrontProxy(
  name: FrontProxyName,
  { ingress, domain }: Pick<Place, 'ingress' | 'domain'>,
): Promise<FrontProxy> {
  const kind = kinds[name];
  const documented = new URL(`../../docs/operations/proxies/${kind.file}`, import.meta.url);
  const folder = mkdtempSync(join(tmpdir(), `pt-${name}-`));
  const port = await freePort();
  const text = kind.configure(readFileSync(documented, 'utf8'), { port, ingress, domain, folder });
  writeFileSync(join(folder, 'configuration'), text);
  mkdirSync(join(folder, 'logs'));
  const [program, ...args] = kind.command(folder);
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-4_000);
  });
  const ended = endOf(child);
  await until(`${name} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
    return isListening(port);
  });
  return {
    port,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
