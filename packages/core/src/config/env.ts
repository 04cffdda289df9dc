// Reads the environment once, at start. A wrong or contradictory value stops the start with one message that names
// the variable, what is wrong with it and how to set it (contract 6). The subjects have files of their own:
// web-settings.ts, ingress-settings.ts, ingress-limits.ts, push-settings.ts, node-settings.ts, docker-settings.ts, microvm-settings.ts, network-settings.ts,
// outbound-settings.ts, notification-settings.ts, account-settings.ts, search-settings.ts, account-share-settings.ts, object-store-settings.ts,
// messaging-settings.ts.
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { alternatives, type ConfigurationVariable, configurationVariables, nearNames } from '@platform/contract';
import type { LogLevel } from '../log.ts';
import { readAccountSettings } from './account-settings.ts';
import { type AccountShareSettings, readAccountShareSettings } from './account-share-settings.ts';
import type { CoreConfig } from './config.ts';
import { isDatabaseUrl } from './database-url.ts';
import { type IngressLimitSettings, readIngressLimits } from './ingress-limits.ts';
import { type IngressSettings, readIngressSettings } from './ingress-settings.ts';
import {
  type MessagingBridgeSettings,
  messagingNotices,
  readMessagingBridge,
  readMessagingSettings,
} from './messaging-settings.ts';
import { type NetworkSettings, readNetworkSettings } from './network-settings.ts';
import { type NodeSettings, readNodeSettings } from './node-settings.ts';
import { type NotificationSettings, readNotificationSettings } from './notification-settings.ts';
import { type ObjectStoreSettings, readObjectStoreSettings } from './object-store-settings.ts';
import { type OutboundSettings, readOutboundSettings } from './outbound-settings.ts';
import { readPushSettings } from './push-settings.ts';
import { defaultRates, type Rates } from './rates.ts';
import { readSearchSettings } from './search-settings.ts';
import { reasonOf, StartError } from './start-error.ts';
import {
  type AddressAndPort,
  absolutePath,
  addressAndPortOf,
  choiceOf,
  listed,
  optionalPathOf,
  type Read,
  wrong,
} from './variables.ts';
import { readWalletSettings } from './wallet-settings.ts';
import { readWebSettings, type WebSettings } from './web-settings.ts';

/** The validated configuration of all parts of the platform. */
export interface PlatformConfig
  extends Omit<CoreConfig, 'packagesDirectory' | 'shellDirectory' | 'outbound'>,
    WebSettings,
    IngressSettings,
    NodeSettings,
    NetworkSettings,
    IngressLimitSettings,
    OutboundSettings,
    AccountShareSettings,
    ObjectStoreSettings,
    NotificationSettings {
  readonly databaseUrl: string | null;
  readonly dataDirectory: string;
  readonly masterKeyFile: string;
  /** The limits of the contract with what the operator changed. */
  /** Of the messaging bridge, where this machine runs it. */
  readonly messagingBridge: MessagingBridgeSettings;
  readonly rates: Rates;
  readonly logLevel: LogLevel;
  /** Where Prometheus may read, on loopback; `null` when it may not. */
  readonly metricsListen: AddressAndPort | null;
  /** What counts in the end, for people. */
  readonly effective: readonly EffectiveSetting[];
  /** What is set and does not work, for people. */
  readonly notices: readonly string[];
}

export interface EffectiveSetting {
  readonly name: string;
  /** Secrets are masked. */
  readonly value: string;
  readonly set: boolean;
  /** Whether it is set to something else than its default. */
  readonly differs: boolean;
}

export interface Surroundings {
  readonly isRoot: boolean;
  /** Home folder of the user. */
  readonly home: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfiguration(environment: Environment, surroundings: Surroundings): PlatformConfig {
  refuseUnknownVariables(environment);
  const read: Read = (name) => {
    const value = environment[name]?.trim();
    return value === '' ? undefined : value;
  };
  const dataDirectory = absolutePath(
    'PLATFORM_DATA_DIR',
    read('PLATFORM_DATA_DIR') ?? defaultDataDirectory(environment, surroundings),
  );
  const web = readWebSettings(read);
  const config = {
    ...web,
    ...readIngressSettings(read, {
      ingressDomain: web.ingressDomain,
      switchedOff: environment.PLATFORM_INGRESS_LISTEN?.trim() === '',
    }),
    ...readPushSettings(read, web.origin),
    ...readNodeSettings(read),
    ...readNetworkSettings(read),
    ...readIngressLimits(read),
    ...readOutboundSettings(read),
    ...readAccountShareSettings(read),
    ...readNotificationSettings(read),
    ...readSearchSettings(read),
    ...readMessagingSettings(read, web.origin),
    ...readWalletSettings(read),
    intelligenceFile: optionalPathOf(read, 'PLATFORM_INTELLIGENCE_FILE'),
    webSearchFile: optionalPathOf(read, 'PLATFORM_WEB_SEARCH_FILE'),
    ...readObjectStoreSettings(read),
    databaseUrl: readDatabaseUrl(read('PLATFORM_DATABASE_URL')),
    dataDirectory,
    masterKeyFile: absolutePath(
      'PLATFORM_MASTER_KEY_FILE',
      read('PLATFORM_MASTER_KEY_FILE') ?? path.join(dataDirectory, 'master.key'),
    ),
    messagingBridge: readMessagingBridge(read, dataDirectory),
    ...readAccountSettings(read),
    rates: readRates(read('PLATFORM_RATE_LIMITS') ?? ''),
    metricsListen: readMetricsListen(read),
    logLevel: choiceOf(read, 'PLATFORM_LOG_LEVEL', ['info', 'fatal', 'error', 'warn', 'debug', 'trace'] as const),
  };
  return { ...config, effective: effectiveValues(read, config), notices: messagingNotices(config.messaging) };
}

function refuseUnknownVariables(environment: Environment): void {
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('PLATFORM_') || value === undefined || Object.hasOwn(configurationVariables, name)) continue;
    if (name.startsWith('PLATFORM_TEST_') || name.startsWith('PLATFORM_BENCH_')) continue;
    throw wrong(name, 'is not a variable of the platform', `${meantBy(name)}docs/configuration.md lists the names`);
  }
}

/** `did you mean PLATFORM_OS_ORIGIN? `, or nothing. */
function meantBy(name: string): string {
  const known = Object.keys(configurationVariables).map((one) => one.toLowerCase());
  const near = nearNames(name, known).map((one) => one.toUpperCase());
  return near.length === 0 ? '' : `did you mean ${alternatives(near)}? `;
}

function defaultDataDirectory(environment: Environment, { isRoot, home }: Surroundings): string {
  if (isRoot) return '/var/lib/platform';
  const shared = environment.XDG_DATA_HOME;
  return path.join(
    shared !== undefined && path.isAbsolute(shared) ? shared : path.join(home, '.local', 'share'),
    'platform',
  );
}

function readMetricsListen(read: Read): AddressAndPort | null {
  const name = 'PLATFORM_METRICS_LISTEN';
  const place = addressAndPortOf(read, name);
  if (place === null || place.host === '::1' || place.host.startsWith('127.')) return place;
  throw wrong(
    name,
    `is "${read(name)}", where others could read it`,
    'set a loopback address such as 127.0.0.1:9090, and expose it only through an authenticating proxy',
  );
}

function readRates(value: string): Rates {
  const rates: Record<keyof Rates, Rates[keyof Rates]> = { ...defaultRates };
  for (const part of listed(value)) {
    const [, name = '', perMinute = '', burst = perMinute] = /^(\w+)=(\d{1,7})(?:\/(\d{1,7}))?$/.exec(part) ?? [];
    if (!Object.hasOwn(defaultRates, name) || Number(perMinute) < 1 || Number(burst) < 1)
      throw wrong(
        'PLATFORM_RATE_LIMITS',
        `holds "${part}"`,
        `write name=per minute or name=per minute/burst; the names are ${Object.keys(defaultRates).join(', ')}`,
      );
    rates[name as keyof Rates] = { perMinute: Number(perMinute), burst: Number(burst) };
  }
  return rates;
}

function readDatabaseUrl(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!isDatabaseUrl(value))
    throw wrong(
      'PLATFORM_DATABASE_URL',
      'is not a PostgreSQL address',
      'set it like postgres://user:password@host:5432/database, several servers as host:5432,other:5432',
    );
  return value;
}

function effectiveValues(
  read: Read,
  config: Pick<
    PlatformConfig,
    | 'rpId'
    | 'dataDirectory'
    | 'masterKeyFile'
    | 'vapidSubject'
    | 'ingressListen'
    | 'ingressOrigin'
    | 'listenPort'
    | 'nodePort'
    | 'messaging'
    | 'messagingBridge'
  >,
): PlatformConfig['effective'] {
  const computed: Partial<Record<ConfigurationVariable, string>> = {
    PLATFORM_RP_ID: config.rpId,
    PLATFORM_LISTEN_PORT: String(config.listenPort),
    PLATFORM_NODE_LISTEN_PORT: String(config.nodePort),
    PLATFORM_INGRESS_PUBLIC_PORT: config.ingressOrigin.port.slice(1) || usualPort(config.ingressOrigin),
    PLATFORM_DATA_DIR: config.dataDirectory,
    PLATFORM_MASTER_KEY_FILE: config.masterKeyFile,
    PLATFORM_DATABASE_URL: '(embedded)',
    PLATFORM_MESSAGING_SERVER_NAME: config.messaging.serverName,
    PLATFORM_MESSAGING_REGISTRATION_FILE: config.messagingBridge.registrationFile,
    PLATFORM_MESSAGING_STORE_DIR: config.messagingBridge.storeDirectory,
    PLATFORM_VAPID_SUBJECT: config.vapidSubject ?? '',
  };
  return (Object.keys(configurationVariables) as ConfigurationVariable[]).map((name) => {
    const isSwitchedOff = name === 'PLATFORM_INGRESS_LISTEN' && config.ingressListen === null;
    const given = isSwitchedOff ? '' : read(name);
    const byDefault = configurationVariables[name].default;
    const secret = 'secret' in configurationVariables[name];
    const value = given === undefined ? (computed[name] ?? byDefault) : secret ? '********' : given;
    return { name, value, set: given !== undefined, differs: given !== undefined && given !== byDefault };
  });
}

function usualPort({ scheme }: CoreConfig['ingressOrigin']): string {
  return scheme === 'http' ? '80' : '443';
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(
      'master_key_unusable',
      `The master key ${file} cannot be read: ${reasonOf(error)}. Give the file to the user that runs the platform.`,
    );
  }
}

/** Reads the master key file. @throws StartError when it cannot be read or is not 32 bytes of base64url */
export function readMasterKey(file: string): Buffer {
  const key = Buffer.from(readKeyFile(file).trim(), 'base64url');
  if (key.length !== 32)
    throw wrong(
      'PLATFORM_MASTER_KEY_FILE',
      `names ${file}, which does not hold 32 bytes of base64url`,
      'restore the key from your backup',
    );
  return key;
}
