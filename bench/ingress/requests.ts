// How many requests pass, over plain HTTP, over TLS and over HTTP/2, through Ingress and Gateway and through other proxies.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newAuthority } from '../../packages/ingress/test-support/certificates.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { loadWithH2load, loadWithWrk, type RunningServer, startNginx, startProgram } from '../gateway/processes.ts';
import { atLeast, median, printRow, reported } from '../machine.ts';
import { quietRounds } from '../quiet.ts';
import { ANSWER, type Bed, DOMAIN, LOAD_CORE, NAME, PROXY_CORE } from './bed.ts';

const UNDER_WAY = 64;
/** Of HTTP/2, with as many requests under way. */
const CONNECTIONS = 8;
const GOAL = 0.2;

const PROXIES = { ours: 'Ingress and Gateway', nginx: 'nginx', haproxy: 'HAProxy', caddy: 'Caddy' } as const;
type Proxy = keyof typeof PROXIES;

/** One proxy: where it listens, and its processes. */
interface Running {
  readonly port: number;
  readonly pids: readonly number[];
}

interface Load {
  readonly requestsPerSecond: number;
  /** Microseconds for each request, of all processes of the proxy. */
  readonly processorTime: number;
}

export interface RequestOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** PEM files of a certificate for every name, and the folder where an Ingress finds them. */
interface Certificate {
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;
  /** Both in one. */
  readonly pair: string;
}

export async function compareRequests(bed: Bed, options: RequestOptions): Promise<void> {
  const workload = join(bed.folder, 'workload.sock');
  const direct = await bed.keep(
    startNginx(bed.folder, 'workload', LOAD_CORE, {
      server: `listen unix:${workload}; location / { default_type application/json; return 200 '${ANSWER}'; }`,
    }),
  );
  const { rounds, seconds } = options;
  const script = await bed.write('get.lua', `wrk.headers["Host"] = "${NAME}"`);
  const wrk = (port: number, callers = UNDER_WAY) =>
    loadWithWrk(`http://127.0.0.1:${port}/feed`, { core: LOAD_CORE, callers, seconds, script });
  const h2load = (protocol: 'http/1.1' | 'h2') => (port: number) =>
    loadWithH2load(`https://${NAME}:${port}/feed`, {
      ...{ core: LOAD_CORE, protocol, seconds, address: `127.0.0.1:${port}` },
      connections: protocol === 'h2' ? CONNECTIONS : UNDER_WAY,
      requestsOfEach: protocol === 'h2' ? UNDER_WAY / CONNECTIONS : 1,
    });

  const plain = await startProxies(bed, workload, null);
  await compare('a small GET', plain, async (port) => (await wrk(port)).requestsPerSecond);
  const added = await quietRounds(
    { rounds, pids: bed.pids },
    async () => (await wrk(plain.ours.port, 1)).p50 - (await wrk(direct.port, 1)).p50,
  );
  printRow(reported('Ingress and Gateway, added p50 at one caller', median(added), 'ms'));

  const overTls = await startProxies(bed, workload, await makeCertificate(bed));
  await compare('a small GET over TLS and HTTP/1.1', overTls, h2load('http/1.1'));
  await compare('a small GET over TLS and HTTP/2', overTls, h2load('h2'));

  async function compare(
    what: string,
    proxies: Readonly<Record<Proxy, Running>>,
    load: (port: number) => Promise<number>,
  ): Promise<void> {
    const measure = async ({ port, pids }: Running): Promise<Load> => {
      const before = await processorTime(pids);
      const requestsPerSecond = await load(port);
      const used = (await processorTime(pids)) - before;
      return { requestsPerSecond, processorTime: used / (requestsPerSecond * seconds) };
    };
    for (const proxy of Object.values(proxies)) await measure(proxy);
    const found = await quietRounds({ rounds, pids: bed.pids }, async () => ({
      ours: await measure(proxies.ours),
      nginx: await measure(proxies.nginx),
      haproxy: await measure(proxies.haproxy),
      caddy: await measure(proxies.caddy),
    }));
    const of = (proxy: Proxy, figure: keyof Load) => median(found.map((round) => round[proxy][figure]));
    const ratio = (other: Proxy) =>
      median(found.map((round) => round.ours.requestsPerSecond / round[other].requestsPerSecond));
    printRow(atLeast(`${what}: Ingress and Gateway to nginx`, ratio('nginx'), '×', GOAL));
    printRow(reported('the same to HAProxy', ratio('haproxy'), '×'));
    printRow(reported('the same to Caddy', ratio('caddy'), '×'));
    for (const proxy of Object.keys(PROXIES) as Proxy[]) {
      printRow(reported(`${what}: ${PROXIES[proxy]}, one core`, of(proxy, 'requestsPerSecond'), 'req/s'));
      printRow(reported('its processor time for a request', of(proxy, 'processorTime'), 'µs'));
    }
  }
}

/** Microseconds so far, of all threads: what other work on the machine changes least. */
async function processorTime(pids: readonly number[]): Promise<number> {
  let nanoseconds = 0;
  for (const pid of pids)
    for (const thread of await readdir(`/proc/${pid}/task`))
      nanoseconds += Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ', 1)[0]);
  return nanoseconds / 1_000;
}

async function makeCertificate(bed: Bed): Promise<Certificate> {
  const { certificate, key } = await (await newAuthority()).issue([`*.${DOMAIN}`]);
  return {
    folder: bed.folder,
    certificate: await bed.write(`_.${DOMAIN}.crt`, certificate),
    key: await bed.write(`_.${DOMAIN}.key`, key),
    pair: await bed.write('pair.pem', `${certificate}\n${key}`),
  };
}

/** Before the workload at this socket, all on one core. */
async function startProxies(bed: Bed, workload: string, tls: Certificate | null): Promise<Record<Proxy, Running>> {
  const kind = tls === null ? 'plain' : 'tls';
  const { ingress, node } = await bed.startWay({ workload, ...(tls === null ? {} : { certificates: tls.folder }) });
  const nginx = await bed.keep(
    startNginx(bed.folder, kind, PROXY_CORE, {
      ...(tls === null ? {} : { listen: 'ssl http2' }),
      http: `upstream app { server unix:${workload}; keepalive 256; keepalive_requests 1000000000; }`,
      server: `location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }
               ${tls === null ? '' : `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`}`,
    }),
  );
  const haproxyPort = await freePort();
  const haproxyFile = await bed.write(
    `${kind}.haproxy`,
    `global\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s
frontend in\n  bind 127.0.0.1:${haproxyPort}${tls === null ? '' : ` ssl crt ${tls.pair} alpn h2,http/1.1`}
  default_backend app\nbackend app\n  http-reuse always\n  server app unix@${workload}\n`,
  );
  const haproxy = await bed.keep(
    startProgram(['haproxy', '-db', '-f', haproxyFile], { core: PROXY_CORE, port: haproxyPort, environment: {} }),
  );
  const caddyPort = await freePort();
  const caddyFile = await bed.write(
    `${kind}.Caddyfile`,
    `{\n\tadmin off\n\tauto_https off\n\tlog {\n\t\tlevel ERROR\n\t}\n}
${tls === null ? 'http' : 'https'}://:${caddyPort} {\n\tbind 127.0.0.1
${tls === null ? '' : `\ttls ${tls.certificate} ${tls.key}\n`}\treverse_proxy unix/${workload}\n}\n`,
  );
  const caddy = await bed.keep(
    startProgram(['caddy', 'run', '--adapter', 'caddyfile', '--config', caddyFile], {
      ...{ core: PROXY_CORE, port: caddyPort },
      environment: { XDG_DATA_HOME: bed.folder, XDG_CONFIG_HOME: bed.folder, HOME: bed.folder, GOMAXPROCS: '1' },
    }),
  );
  const alone = ({ port, pid }: RunningServer): Running => ({ port, pids: [pid] });
  return {
    ours: { port: ingress.port, pids: [ingress.pid, node.pid] },
    nginx: alone(nginx),
    haproxy: alone(haproxy),
    caddy: alone(caddy),
  };
}
