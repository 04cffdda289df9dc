// Reads the environment once, at start. A wrong or contradictory value stops the start with one message that names
// the variable, what is wrong with it and how to set it (contract 6).
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as path from 'node:path';
import {
  accountName,
  type ConfigurationVariable,
  configurationVariables,
  isPubliclyRoutable,
  isRegistryEntry,
  laterConfigurationFamilies,
  laterConfigurationVariables,
} from '@platform/contract';
import { defaultRates, type Rates } from '../http/rate-limit.ts';
import type { LogLevel } from '../log.ts';
import type { CoreConfig } from './config.ts';
import { StartError } from './start-error.ts';

/** Everything the platform's parts are told, checked. */
export interface PlatformConfig extends Omit<CoreConfig, 'packagesDirectory' | 'shellDirectory'> {
  readonly nodePort: number;
  /** Whether workloads run on core's own machine. */
  readonly localNode: boolean;
  readonly linkListen: AddressAndPort | null;
  /** Where core reaches the control side of this machine as a node of another one; `null`: found out. */
  readonly nodeControl: AddressAndPort | null;
  /** `null`: what the machine has, less a part for itself. */
  readonly nodeMemoryMiB: number | null;
  readonly sharedVolumes: string | null;
  readonly databaseUrl: string | null;
  readonly dataDirectory: string;
  readonly masterKeyFile: string;
  /** The limits of the contract with what the operator changed. */
  readonly rates: Rates;
  readonly runtimeDriver: 'auto' | 'process' | 'docker' | 'microvm';
  /** What the driver `microvm` runs its machines with; what is absent is looked for on the machine. */
  readonly microvm: {
    readonly monitor?: 'qemu' | 'firecracker';
    readonly kernel?: string;
    readonly modules?: string;
    readonly firecracker?: string;
  };
  readonly dockerSocket: string;
  /** Registries from which images of apps may come. */
  readonly imageRegistries: readonly string[];
  readonly allowUnsandboxed: boolean;
  readonly publicHost: string;
  /** Both inclusive; `null` publishes no UDP ports. */
  readonly udpPortRange: { readonly first: number; readonly last: number } | null;
  /** Name servers of backends that may reach the internet. */
  readonly workloadDns: readonly string[];
  readonly logLevel: LogLevel;
  /** Where Prometheus may read, on loopback; `null` when it may not. */
  readonly metricsListen: AddressAndPort | null;
  /** What counts in the end, for people: name, value (secrets masked), whether it was set. */
  readonly effective: readonly { readonly name: string; readonly value: string; readonly set: boolean }[];
  /** Variables that are set but belong to parts that are not there yet. */
  readonly notices: readonly string[];
}

export interface AddressAndPort {
  readonly host: string;
  readonly port: number;
}

export interface Surroundings {
  readonly isRoot: boolean;
  /** Home folder of the user. */
  readonly home: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfiguration(environment: Environment, surroundings: Surroundings): PlatformConfig {
  const notices = unknownVariables(environment);
  const read = (name: ConfigurationVariable): string | undefined => {
    const value = environment[name]?.trim();
    return value === '' ? undefined : value;
  };
  const origin = readOrigin(
    'PLATFORM_OS_ORIGIN',
    read('PLATFORM_OS_ORIGIN') ?? configurationVariables.PLATFORM_OS_ORIGIN.default,
  );
  const nodeOrigin = readOrigin(
    'PLATFORM_NODE_ORIGIN',
    read('PLATFORM_NODE_ORIGIN') ?? configurationVariables.PLATFORM_NODE_ORIGIN.default,
  );
  const rpId = readRpId(read('PLATFORM_RP_ID') ?? origin.hostname, origin);
  const appsDomain = readAppsDomain(
    read('PLATFORM_APPS_DOMAIN') ?? configurationVariables.PLATFORM_APPS_DOMAIN.default,
    origin,
    rpId,
  );
  const dataDirectory = readFolder(
    'PLATFORM_DATA_DIR',
    read('PLATFORM_DATA_DIR') ?? defaultDataDirectory(environment, surroundings),
  );
  const config = {
    origin: origin.origin,
    rpId,
    rpName: read('PLATFORM_RP_NAME') ?? configurationVariables.PLATFORM_RP_NAME.default,
    prfLegacySalt: readSalt(read('PLATFORM_PRF_LEGACY_SALT')),
    sessionMilliseconds: readInteger(
      'PLATFORM_SESSION_TTL_MS',
      read('PLATFORM_SESSION_TTL_MS'),
      60_000,
      400 * 86_400_000,
    ),
    challengeMilliseconds: readInteger(
      'PLATFORM_CHALLENGE_TTL_MS',
      read('PLATFORM_CHALLENGE_TTL_MS'),
      10_000,
      3_600_000,
    ),
    sessionCookie: readPattern(
      'PLATFORM_SESSION_COOKIE',
      read('PLATFORM_SESSION_COOKIE'),
      /^[A-Za-z0-9_-]{1,64}$/,
      'letters, digits, - and _ only',
    ),
    appsDomain,
    nodeOrigin: nodeOrigin.origin,
    listenHost: readAddress(read('PLATFORM_LISTEN_HOST') ?? configurationVariables.PLATFORM_LISTEN_HOST.default),
    listenPort: portOf(origin),
    nodePort: portOf(nodeOrigin),
    localNode: readChoice('PLATFORM_LOCAL_NODE', read('PLATFORM_LOCAL_NODE'), ['true', 'false'] as const) === 'true',
    linkListen: readAddressAndPort('PLATFORM_LINK_LISTEN', read('PLATFORM_LINK_LISTEN')),
    nodeControl: readAddressAndPort('PLATFORM_NODE_CONTROL', read('PLATFORM_NODE_CONTROL')),
    nodeMemoryMiB:
      read('PLATFORM_NODE_MEMORY_MIB') === undefined
        ? null
        : readInteger('PLATFORM_NODE_MEMORY_MIB', read('PLATFORM_NODE_MEMORY_MIB'), 32, 2 ** 31 - 1),
    nodeLostMilliseconds:
      readInteger('PLATFORM_NODE_LOST_SECONDS', read('PLATFORM_NODE_LOST_SECONDS'), 20, 86_400) * 1_000,
    sharedVolumes: readOptionalFolder('PLATFORM_VOLUMES_SHARED', read('PLATFORM_VOLUMES_SHARED')),
    trustedProxies: readProxies(read('PLATFORM_TRUSTED_PROXIES')),
    databaseUrl: readDatabaseUrl(read('PLATFORM_DATABASE_URL')),
    dataDirectory,
    masterKeyFile: readFolder(
      'PLATFORM_MASTER_KEY_FILE',
      read('PLATFORM_MASTER_KEY_FILE') ?? path.join(dataDirectory, 'master.key'),
    ),
    masterAccount: readMasterAccount(read('PLATFORM_MASTER_ACCOUNT')),
    rates: readRates(read('PLATFORM_RATE_LIMITS')),
    runtimeDriver: readChoice('PLATFORM_RUNTIME_DRIVER', read('PLATFORM_RUNTIME_DRIVER'), [
      'auto',
      'process',
      'docker',
      'microvm',
    ] as const),
    microvm: readMicrovm(read),
    dockerSocket: readFolder(
      'PLATFORM_RUNTIME_DOCKER_SOCKET',
      read('PLATFORM_RUNTIME_DOCKER_SOCKET') ?? configurationVariables.PLATFORM_RUNTIME_DOCKER_SOCKET.default,
    ),
    imageRegistries: readRegistries(read('PLATFORM_RUNTIME_IMAGE_REGISTRIES')),
    allowUnsandboxed:
      readChoice('PLATFORM_RUNTIME_ALLOW_UNSANDBOXED', read('PLATFORM_RUNTIME_ALLOW_UNSANDBOXED'), [
        'false',
        'true',
      ] as const) === 'true',
    publicHost: readPattern(
      'PLATFORM_PUBLIC_HOST',
      read('PLATFORM_PUBLIC_HOST'),
      /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/,
      'a lower-case host name or an IPv4 address',
    ),
    udpPortRange: readPortRange(read('PLATFORM_UDP_PORT_RANGE')),
    workloadDns: readNameServers(read('PLATFORM_WORKLOAD_DNS') ?? configurationVariables.PLATFORM_WORKLOAD_DNS.default),
    metricsListen: readMetricsListen(read('PLATFORM_METRICS_LISTEN')),
    logLevel: readChoice('PLATFORM_LOG_LEVEL', read('PLATFORM_LOG_LEVEL'), [
      'info',
      'fatal',
      'error',
      'warn',
      'debug',
      'trace',
    ] as const),
  };
  if (config.listenPort === config.nodePort) {
    throw wrong('PLATFORM_NODE_ORIGIN', 'has the same port as PLATFORM_OS_ORIGIN', 'give the two different ports');
  }
  return { ...config, effective: effectiveValues(read, config), notices };
}

function wrong(name: string, what: string, cure: string): StartError {
  return new StartError('wrong_variable', `${name} ${what}; ${cure}.`);
}

function unknownVariables(environment: Environment): string[] {
  const notices: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('PLATFORM_') || value === undefined || Object.hasOwn(configurationVariables, name)) continue;
    if (name.startsWith('PLATFORM_TEST_') || name.startsWith('PLATFORM_BENCH_')) continue;
    const later =
      (laterConfigurationVariables as readonly string[]).includes(name) ||
      laterConfigurationFamilies.some((family) => name.startsWith(family));
    if (later) notices.push(`${name} is set, but this version does not have the part it configures.`);
    else throw wrong(name, 'is not a variable of the platform', 'see docs/configuration.md for the names');
  }
  return notices;
}

function readOrigin(name: ConfigurationVariable, value: string): URL {
  const example = `set it like ${configurationVariables[name].default}`;
  if (!URL.canParse(value)) throw wrong(name, `is "${value}", which is not an origin`, example);
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong(name, 'must begin with http:// or https://', example);
  if (url.username !== '' || url.password !== '') throw wrong(name, 'must not hold a user name or password', example);
  if (url.origin !== value.replace(/\/$/, '').toLowerCase())
    throw wrong(name, `is "${value}", but must be scheme, host and port only`, example);
  if (url.protocol === 'http:' && !isLocal(url.hostname))
    throw wrong(
      name,
      'uses http on a public host, where browsers offer no passkeys',
      'use https, or a host below localhost',
    );
  return url;
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  // Behind a proxy that ends TLS the public port is 443; the listener keeps its usual one.
  return url.protocol === 'https:' ? (url.hostname.startsWith('node.') ? 8788 : 8787) : 80;
}

function readRpId(rpId: string, origin: URL): string {
  if (isIP(origin.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw wrong('PLATFORM_OS_ORIGIN', 'names an address, which can have no passkeys', 'use a host name');
  if (rpId !== origin.hostname && !origin.hostname.endsWith(`.${rpId}`))
    throw wrong(
      'PLATFORM_RP_ID',
      `is "${rpId}", which is not the host of PLATFORM_OS_ORIGIN or a parent of it`,
      `set it to ${origin.hostname}`,
    );
  return rpId;
}

function readAppsDomain(domain: string, origin: URL, rpId: string): string {
  const name = 'PLATFORM_APPS_DOMAIN';
  if (!/^(?=.{1,150}$)[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(domain))
    throw wrong(name, `is "${domain}", which is not a lower-case domain`, 'set it like apps.example.org');
  // Descendants of the relying party ID may use its passkeys and their PRF: apps must never be among them.
  if (domain === rpId || domain.endsWith(`.${rpId}`))
    throw wrong(
      name,
      `lies below the relying party ${rpId}, so that every app could use the passkeys`,
      'use a domain that is not below PLATFORM_RP_ID',
    );
  if (domain === origin.hostname || origin.hostname.endsWith(`.${domain}`))
    throw wrong(name, 'contains the host of the shell', 'use a domain of its own');
  return domain;
}

function readMicrovm(read: (name: ConfigurationVariable) => string | undefined): PlatformConfig['microvm'] {
  const monitor = read('PLATFORM_MICROVM_MONITOR');
  const file = (name: ConfigurationVariable) => {
    const value = read(name);
    return value === undefined ? undefined : readFolder(name, value);
  };
  const [kernel, modules] = [file('PLATFORM_MICROVM_KERNEL'), file('PLATFORM_MICROVM_MODULES')];
  const firecracker = file('PLATFORM_MICROVM_FIRECRACKER');
  return {
    ...(monitor === undefined
      ? {}
      : { monitor: readChoice('PLATFORM_MICROVM_MONITOR', monitor, ['qemu', 'firecracker'] as const) }),
    ...(kernel === undefined ? {} : { kernel }),
    ...(modules === undefined ? {} : { modules }),
    ...(firecracker === undefined ? {} : { firecracker }),
  };
}

function readFolder(name: ConfigurationVariable, value: string): string {
  if (!path.isAbsolute(value)) throw wrong(name, `is "${value}"`, 'set an absolute path');
  return path.normalize(value);
}

function defaultDataDirectory(environment: Environment, { isRoot, home }: Surroundings): string {
  if (isRoot) return '/var/lib/platform';
  const shared = environment.XDG_DATA_HOME;
  return path.join(
    shared !== undefined && path.isAbsolute(shared) ? shared : path.join(home, '.local', 'share'),
    'platform',
  );
}

function readSalt(value: string | undefined): Buffer | null {
  if (value === undefined) return null;
  const salt = Buffer.from(value, 'base64url');
  if (salt.length !== 32 || salt.toString('base64url') !== value)
    throw wrong('PLATFORM_PRF_LEGACY_SALT', 'is not 32 bytes of base64url', 'copy the salt of the former deployment');
  return salt;
}

function readInteger(name: ConfigurationVariable, value: string | undefined, least: number, most: number): number {
  const number = Number(value ?? configurationVariables[name].default);
  if (!Number.isSafeInteger(number) || number < least || number > most)
    throw wrong(name, `is "${value}"`, `set a whole number from ${least} to ${most}`);
  return number;
}

function readPattern(name: ConfigurationVariable, value: string | undefined, pattern: RegExp, rule: string): string {
  const text = value ?? configurationVariables[name].default;
  if (!pattern.test(text)) throw wrong(name, `is "${text}"`, `use ${rule}`);
  return text;
}

function readChoice<Choice extends string>(
  name: ConfigurationVariable,
  value: string | undefined,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  if (value === undefined) return choices[0];
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(name, `is "${value}"`, `use one of ${[...choices].sort().join(', ')}`);
  return found;
}

function readAddress(value: string): string {
  if (isIP(value) === 0) throw wrong('PLATFORM_LISTEN_HOST', `is "${value}"`, 'set an IP address such as 127.0.0.1');
  return value;
}

function readAddressAndPort(name: ConfigurationVariable, value: string | undefined): AddressAndPort | null {
  if (value === undefined) return null;
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(digits);
  if (isIP(host) === 0 || !(port >= 1 && port <= 65_535))
    throw wrong(name, `is "${value}"`, 'set an IP address and a port, such as 10.0.0.1:8789 or [fd00::1]:8789');
  return { host, port };
}

function readMetricsListen(value: string | undefined): AddressAndPort | null {
  const place = readAddressAndPort('PLATFORM_METRICS_LISTEN', value);
  if (place === null || place.host === '::1' || place.host.startsWith('127.')) return place;
  throw wrong(
    'PLATFORM_METRICS_LISTEN',
    `is "${value}", where others could read it`,
    'set a loopback address such as 127.0.0.1:9090, and put a proxy that asks who is there in front of it',
  );
}

function readOptionalFolder(name: ConfigurationVariable, value: string | undefined): string | null {
  return value === undefined ? null : readFolder(name, value);
}

function readProxies(value: string | undefined): string[] {
  const proxies = (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const version = isIP(address);
    if (
      version === 0 ||
      (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
    )
      throw wrong('PLATFORM_TRUSTED_PROXIES', `holds "${proxy}"`, 'list addresses or CIDR blocks, separated by commas');
  }
  return proxies;
}

function readRegistries(value: string | undefined): string[] {
  const entries = (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  for (const entry of entries) {
    if (isRegistryEntry(entry)) continue;
    throw wrong(
      'PLATFORM_RUNTIME_IMAGE_REGISTRIES',
      `holds "${entry}"`,
      'list registries like registry.example, registry.example:5000 or registry.example/team, separated by commas',
    );
  }
  return entries;
}

function readPortRange(value: string | undefined): PlatformConfig['udpPortRange'] {
  if (value === undefined) return null;
  const [, first, last] = (/^(\d{1,5})-(\d{1,5})$/.exec(value) ?? []).map(Number);
  if (first === undefined || last === undefined || first < 1_024 || last > 65_535 || first > last)
    throw wrong('PLATFORM_UDP_PORT_RANGE', `is "${value}"`, 'set two ports from 1024 to 65535 like 40000-40999');
  return { first, last };
}

/** As many as a resolver asks. */
const MOST_NAME_SERVERS = 3;

function readNameServers(value: string): string[] {
  const servers = value.split(',').map((part) => part.trim());
  const cure = 'list one to three publicly routable IPv4 addresses, separated by commas';
  if (servers.length > MOST_NAME_SERVERS) throw wrong('PLATFORM_WORKLOAD_DNS', `holds ${servers.length} entries`, cure);
  for (const server of servers) {
    if (!isPubliclyRoutable(server))
      throw wrong('PLATFORM_WORKLOAD_DNS', `holds "${server}", which backends cannot reach`, cure);
  }
  return servers;
}

function readRates(value: string | undefined): Rates {
  const rates: Record<keyof Rates, Rates[keyof Rates]> = { ...defaultRates };
  for (const part of (value ?? '').split(',').filter((text) => text.trim() !== '')) {
    const [, name = '', perMinute = '', burst = perMinute] = /^\s*(\w+)=(\d{1,7})(?:\/(\d{1,7}))?\s*$/.exec(part) ?? [];
    if (!Object.hasOwn(defaultRates, name) || Number(perMinute) < 1 || Number(burst) < 1)
      throw wrong(
        'PLATFORM_RATE_LIMITS',
        `holds "${part.trim()}"`,
        `write name=per minute or name=per minute/burst; the names are ${Object.keys(defaultRates).join(', ')}`,
      );
    rates[name as keyof Rates] = { perMinute: Number(perMinute), burst: Number(burst) };
  }
  return rates;
}

function readDatabaseUrl(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value.replace('@/', '@localhost/')))
    throw wrong(
      'PLATFORM_DATABASE_URL',
      'is not a PostgreSQL address',
      'set it like postgres://user:password@host:5432/database',
    );
  return value;
}

function readMasterAccount(value: string | undefined): string | null {
  if (value === undefined) return null;
  const result = accountName.safeParse(value);
  if (!result.success)
    throw wrong(
      'PLATFORM_MASTER_ACCOUNT',
      `is "${value}", which is not an account name`,
      'set the name of the account',
    );
  return result.data;
}

function effectiveValues(
  read: (name: ConfigurationVariable) => string | undefined,
  config: { readonly rpId: string; readonly dataDirectory: string; readonly masterKeyFile: string },
): PlatformConfig['effective'] {
  const computed: Partial<Record<ConfigurationVariable, string>> = {
    PLATFORM_RP_ID: config.rpId,
    PLATFORM_DATA_DIR: config.dataDirectory,
    PLATFORM_MASTER_KEY_FILE: config.masterKeyFile,
    PLATFORM_DATABASE_URL: '(embedded)',
  };
  return (Object.keys(configurationVariables) as ConfigurationVariable[]).map((name) => {
    const given = read(name);
    const secret = 'secret' in configurationVariables[name];
    const shown =
      given === undefined ? (computed[name] ?? configurationVariables[name].default) : secret ? '********' : given;
    return { name, value: shown, set: given !== undefined };
  });
}

/** Reads the master key file. @throws StartError when it is not 32 bytes of base64url */
export function readMasterKey(file: string): Buffer {
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
  if (key.length !== 32)
    throw wrong(
      'PLATFORM_MASTER_KEY_FILE',
      `names ${file}, which does not hold 32 bytes of base64url`,
      'restore the key from your backup',
    );
  return key;
}
