// Current Synapses from PyPI as real homeservers, which federate over loopback TLS with a certificate authority of their own
// and know of nobody else.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { lockedPython } from './locked-python.ts';
import { openPostgresDatabase, openSqliteDatabase, type SynapseDatabase } from './synapse-database.ts';
import { until } from './wait.ts';

const run = promisify(execFile);
const REQUIREMENTS = new URL('./synapse/requirements.txt', import.meta.url).pathname;
const SHARED_SECRET = 'only-of-tests';
/** Under the load of a whole test run. */
const START_MS = 120_000;

export interface Synapse {
  /** `localhost:<port>`, where other servers reach it with TLS. */
  readonly serverName: string;
  /** Its client-server API, without TLS. */
  readonly origin: string;
  /** All that it stores. */
  readonly database: SynapseDatabase;
  /** Makes an ordinary account with a password. */
  register(name: string, password: string): Promise<void>;
  log(): Promise<string>;
  stop(): Promise<void>;
  /** After `stop`. */
  start(): Promise<void>;
}

export interface Synapses<Name extends string> {
  /** For PYTHONPATH: what the servers and their foreign clients are made of. */
  readonly packages: string;
  readonly servers: Readonly<Record<Name, Synapse>>;
  close(): Promise<void>;
}

export interface SynapseOptions {
  /** Default: `sqlite`. */
  readonly database?: 'sqlite' | 'postgres';
  /** What is registered as application service, once the server's name is known. Default: nothing. */
  readonly registration?: (serverName: string) => object;
  /** Of its configuration, in the place of what the helper sets. */
  readonly settings?: object;
}

/** Packages of the servers and of the foreign client; `null` without Python or a package index. */
export const synapsePackages = (): Promise<string | null> => lockedPython(REQUIREMENTS).catch(() => null);

/** Starts servers that know each other, each with a database of its own. */
export async function startSynapses<Name extends string>(
  packages: string,
  wanted: Readonly<Record<Name, SynapseOptions>>,
): Promise<Synapses<Name>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'synapse-'));
  const names = Object.keys(wanted) as Name[];
  const ports = new Map<Name, { readonly tls: number; readonly plain: number }>();
  for (const name of names) ports.set(name, { tls: await freePort(), plain: await freePort() });
  const serverNames = [...ports.values()].map(({ tls }) => `localhost:${tls}`);
  await makeCertificates(folder);
  const servers = {} as Record<Name, Synapse>;
  const close = async (): Promise<void> => {
    await Promise.all(
      Object.values<Synapse>(servers).map(async (server) => {
        await server.stop();
        await server.database.close();
      }),
    );
    await rm(folder, { recursive: true, force: true });
  };
  const starts = await Promise.allSettled(
    names.map(async (name) => {
      const { tls, plain } = ports.get(name) ?? { tls: 0, plain: 0 };
      const own = path.join(folder, name);
      await mkdir(own);
      servers[name] = await startSynapse(packages, { folder: own, tls, plain, serverNames, ...wanted[name] });
    }),
  );
  // What has started ends with what has not.
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return { packages, servers, close };
}

interface Start extends SynapseOptions {
  readonly folder: string;
  readonly tls: number;
  readonly plain: number;
  readonly serverNames: readonly string[];
}

async function startSynapse(packages: string, start: Start): Promise<Synapse> {
  const { folder, plain, tls } = start;
  const serverName = `localhost:${tls}`;
  const config = path.join(folder, 'homeserver.yaml');
  const database =
    start.database === 'postgres'
      ? await openPostgresDatabase()
      : openSqliteDatabase(path.join(folder, 'homeserver.db'));
  await writeFile(config, JSON.stringify(await settingsOf(start, serverName, database.settings)));
  const program = ['-m', 'synapse.app.homeserver', '--config-path', config];
  const env = { ...process.env, PYTHONPATH: packages };
  await run('python3', [...program, '--generate-keys'], { env, cwd: folder });
  const origin = `http://127.0.0.1:${plain}`;
  let child: ChildProcess | null = null;

  const server: Synapse = {
    serverName,
    origin,
    database,
    register: (name, password) => register(origin, name, password),
    log: () => readFile(path.join(folder, 'homeserver.log'), 'utf8').catch(() => ''),
    async stop() {
      const ending = child;
      child = null;
      if (ending === null || ending.exitCode !== null) return;
      ending.kill('SIGTERM');
      await once(ending, 'exit');
    },
    async start() {
      const starting = spawn('python3', program, { env, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
      child = starting;
      await until(
        `Synapse at ${origin}`,
        async () => {
          if (starting.exitCode !== null) throw new Error(`Synapse ended:\n${await server.log()}`);
          return (await fetch(`${origin}/health`).catch(() => null))?.ok;
        },
        START_MS,
      );
    },
  };
  await server.start();
  return server;
}

async function settingsOf(
  { folder, tls, plain, serverNames, registration, settings }: Start,
  serverName: string,
  database: object,
): Promise<object> {
  const registrationFile = path.join(folder, 'registration.yaml');
  if (registration !== undefined) await writeFile(registrationFile, JSON.stringify(registration(serverName)));
  const logConfig = path.join(folder, 'log.yaml');
  await writeFile(logConfig, JSON.stringify(LOG(path.join(folder, 'homeserver.log'))));
  const authority = path.join(folder, '..');
  const bind_addresses = ['127.0.0.1'];
  return {
    server_name: serverName,
    listeners: [
      { port: tls, type: 'http', tls: true, bind_addresses, resources: [{ names: ['federation'] }] },
      { port: plain, type: 'http', bind_addresses, resources: [{ names: ['client'] }] },
    ],
    tls_certificate_path: path.join(authority, 'server.crt'),
    tls_private_key_path: path.join(authority, 'server.key'),
    federation_custom_ca_list: [path.join(authority, 'authority.crt')],
    federation_domain_whitelist: serverNames,
    ip_range_whitelist: ['127.0.0.1/32'],
    database,
    media_store_path: path.join(folder, 'media'),
    signing_key_path: path.join(folder, 'signing.key'),
    log_config: logConfig,
    macaroon_secret_key: 'only-of-tests',
    form_secret: 'only-of-tests',
    registration_shared_secret: SHARED_SECRET,
    trusted_key_servers: [],
    suppress_key_server_warning: true,
    report_stats: false,
    presence: { enabled: false },
    app_service_config_files: registration === undefined ? [] : [registrationFile],
    // Tests repeat at once what failed while the other server was away.
    federation: { destination_min_retry_interval: '1s', destination_max_retry_interval: '1s' },
    ...NO_RATES,
    ...settings,
  };
}

const PLENTY = { per_second: 10_000, burst_count: 10_000 };
const NO_RATES = {
  rc_message: PLENTY,
  rc_registration: PLENTY,
  rc_login: { address: PLENTY, account: PLENTY, failed_attempts: PLENTY },
  rc_joins: { local: PLENTY, remote: PLENTY },
  rc_joins_per_room: PLENTY,
  rc_invites: { per_room: PLENTY, per_user: PLENTY, per_issuer: PLENTY },
  rc_room_creation: PLENTY,
  rc_federation: { window_size: 1000, sleep_limit: 10_000, sleep_delay: 1, reject_limit: 10_000, concurrent: 100 },
};

const LOG = (filename: string) => ({
  version: 1,
  formatters: { short: { format: '%(asctime)s %(name)s %(levelname)s %(message)s' } },
  handlers: { file: { class: 'logging.FileHandler', filename, formatter: 'short' } },
  root: { level: 'WARNING', handlers: ['file'] },
  disable_existing_loggers: false,
});

/** An authority and one certificate for all: they differ in their ports. */
async function makeCertificates(folder: string): Promise<void> {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  const authority = ['-keyout', 'authority.key', '-out', 'authority.crt', '-subj', '/CN=Tests'];
  await openssl('req', '-x509', ...fresh, ...authority);
  await openssl('req', ...fresh, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  await writeFile(path.join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const signer = ['-CA', 'authority.crt', '-CAkey', 'authority.key', '-CAcreateserial', '-extfile', 'names'];
  await openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.crt', '-days', '30', ...signer);
}

async function register(origin: string, username: string, password: string): Promise<void> {
  const url = `${origin}/_synapse/admin/v1/register`;
  const { nonce } = (await (await fetch(url)).json()) as { nonce: string };
  const mac = createHmac('sha1', SHARED_SECRET)
    .update([nonce, username, password, 'notadmin'].join('\0'))
    .digest('hex');
  const answer = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ nonce, username, password, admin: false, mac }),
  });
  if (!answer.ok) throw new Error(`${username} was not registered: ${answer.status} ${await answer.text()}`);
}

/** A registration as the bridge needs it. @param url where the homeserver finds the bridge */
export function bridgeRegistration(url: string, tokens: { readonly asToken: string; readonly hsToken: string }) {
  return (serverName: string) => ({
    id: 'platform-messaging',
    url,
    as_token: tokens.asToken,
    hs_token: tokens.hsToken,
    sender_localpart: 'platform-messaging',
    rate_limited: false,
    'io.element.msc4190': true,
    receive_ephemeral: true,
    namespaces: {
      users: [{ exclusive: true, regex: `@[a-z][a-z0-9-]*:${serverName.replaceAll('.', '\\.')}` }],
      aliases: [],
      rooms: [],
    },
  });
}

export const newToken = (): string => randomBytes(32).toString('hex');
