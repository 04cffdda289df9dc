// The context that every domain of core receives: configuration, database, clock, randomness, log, signals.
import type { IrohEndpoint } from '@platform/link';
import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { BuiltInTools } from './built-in-tool.ts';
import type { VerifiedFrontends } from './catalog/face.ts';
import type { Time } from './clock/clock-guard.ts';
import type { CoreConfig } from './config/config.ts';
import type { Rates } from './config/rates.ts';
import type { AddressAndPort } from './config/variables.ts';
import type { DatabaseSchema } from './database/schema.ts';
import type { Signals } from './database/signals.ts';
import type { LiveStreams } from './events/live-streams.ts';
import type { Callers } from './http/callers/callers.ts';
import type { CursorCodec } from './http/cursor.ts';
import type { RouteCalls } from './http/server/in-process.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Followers } from './members/followers.ts';
import type { Count } from './metrics.ts';
import type { Backends, Nodes } from './nodes/face.ts';
import type { Opens } from './opened.ts';
import type { At } from './points.ts';
import type { Policies } from './policy.ts';
import type { PlatformSettings } from './settings/platform-settings.ts';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface CoreContext {
  readonly config: CoreConfig;
  /** What the operator's files say, or else the master account in Fleet. */
  readonly settings: PlatformSettings;
  /** How often each kind of route may be called. */
  readonly rates: Rates;
  /** Where nodes reach core over TLS under its own key; `null` for nowhere. */
  readonly linkListen: AddressAndPort | null;
  /** Reaches nodes behind NAT; `null` where that is off. */
  readonly iroh: IrohEndpoint | null;
  /** Ordinary queries. */
  readonly database: Kysely<DatabaseSchema>;
  /** Bare prepared statements on hot paths. */
  readonly pool: pg.Pool;
  /** Signals to and from all replicas over LISTEN/NOTIFY, such as revocations and new notifications. */
  readonly signals: Signals;
  /** The time of `time.now`, guarded against clocks that jump. */
  readonly clock: () => Date;
  /** Whether and by what time something may be deleted or ended (clock/clock-guard.ts). */
  readonly time: Time;
  /** Cryptographically random bytes. */
  readonly random: (bytes: number) => Buffer;
  /** 32 bytes; keys for single purposes are derived from it (credentials/master-key.ts). */
  readonly masterKey: Buffer;
  /** Cursors of paged lists. */
  readonly cursors: CursorCodec;
  readonly log: Log;
  /** Calls the hooks of all domains. */
  readonly lifecycle: Lifecycle;
  /** What installations may do on their nodes, of all domains. */
  readonly policies: Policies;
  /** What grants open today, of all domains. */
  readonly opens: Opens;
  /** What follows from the kind of a caller; ends what callers wait for. */
  readonly callers: Callers;
  /** Waits until nodes and Ingresses have carried out a change. */
  readonly followers: Followers;
  /** Starts, stops and asks after workloads, on whichever node. */
  readonly nodes: Nodes;
  /** Sends requests to the backends of installed apps, on whichever node. */
  readonly backends: Backends;
  /** The unpacked files of packages, as they were published. */
  readonly frontends: VerifiedFrontends;
  /** The live streams that are open here. */
  readonly streams: LiveStreams;
  /** The tools that domains offer. */
  readonly builtInTools: BuiltInTools;
  /** Calls routes without a request. */
  readonly routeCalls: RouteCalls;
  /** Raises a counter of the contract's table. */
  readonly count: Count;
  /** For tests alone. */
  readonly at: At;
  /** Fires when the platform stops: long polls and streams end. */
  readonly stopping: AbortSignal;
}
