// One run of a workload: package, volume, credentials, driver and Gateway brought together, and taken apart again.

import { createHash } from 'node:crypto';
import {
  type Assignment,
  credentialPrefixes,
  type PublicPortStatus,
  type WorkloadStart,
  type WorkloadUse,
} from '@platform/contract';
import { type EnvelopeKey, type LinkCertificate, newEnvelopeKey, publicKeyText } from '@platform/link';
import type { Runnables } from '../agents.ts';
import type { Clock, Log } from '../clock.ts';
import type { CoreClient } from '../core-client.ts';
import type { DiskWatch } from '../disk-watch.ts';
import {
  type Driver,
  StartRefused,
  type Survivor,
  type WorkloadInstance,
  type WorkloadSpec,
} from '../drivers/driver.ts';
import type { Exit } from '../drivers/exit-reason.ts';
import { gatewayUrls, reservedNames, storageUrls, workloadEnvironment } from '../environment.ts';
import type {
  GatewayHooks,
  GatewayPlace,
  GatewaySettings,
  OutboundNetwork,
  RunningGateway,
  StartGateway,
} from '../gateway-port.ts';
import type { Identities } from '../identities.ts';
import { createLogIntake } from '../logs/log-intake.ts';
import type { LogWriter } from '../logs/log-store.ts';
import type { NodeMetrics } from '../metrics.ts';
import type { UdpPorts } from '../network/udp-ports.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { SharedVolumes } from '../shared-volumes.ts';
import type { Tally } from '../tally.ts';
import type { Volumes } from '../volumes/volumes.ts';
import { createAnswerRemarks } from './answer-remarks.ts';
import { imageClaim } from './claim-image.ts';
import { fingerprintOf } from './start-relevant.ts';
import { createUsage } from './usage.ts';

export interface WorkloadParts {
  readonly driver: Driver;
  readonly runnables: Runnables;
  /** Undefined as an ordinary user: everything runs as that user then. */
  readonly identities: Identities | undefined;
  readonly volumes: Volumes;
  readonly disk: Pick<DiskWatch, 'requireRoom'>;
  readonly udpPorts: UdpPorts;
  /** Undefined on a node that shares none. */
  readonly sharedVolumes: SharedVolumes | undefined;
  readonly core: Pick<CoreClient, 'startWorkload' | 'claimImage'>;
  readonly coreOrigin: string;
  readonly coreHost: string;
  readonly coreKey?: Buffer;
  readonly linkCertificate?: LinkCertificate;
  readonly outbound: OutboundNetwork;
  readonly startGateway: StartGateway;
  readonly random: (bytes: number) => Buffer;
  readonly log: Log;
  readonly metrics: Pick<NodeMetrics, 'gatewayEvent'> | undefined;
  readonly tally: Pick<Tally, 'run'>;
}

export interface Workload extends Pick<WorkloadInstance, 'gateway' | 'listening' | 'ports' | 'shortfalls'> {
  /** Puts the grants of a new assignment into effect. @throws Error when what was revoked may still be reachable. */
  applyGrants(assignment: Assignment): Promise<void>;
  /** Where its public UDP ports are reached, and which of them could not be opened. */
  publicPorts(): readonly PublicPortStatus[];
  /** Resolves after the process, its Gateway and its log have ended. */
  readonly ended: Promise<Exit>;
  /** What it uses now. */
  usage(): Promise<WorkloadUse>;
  /** SIGTERM, five seconds or `graceMilliseconds`, SIGKILL. Called again, the shorter time counts. */
  stop(graceMilliseconds?: number): Promise<Exit>;
}

const GRACE_MILLISECONDS = 5_000;
const KILLED = `It did not exit within ${GRACE_MILLISECONDS / 1_000} s of SIGTERM and was killed.`;
const CREDENTIAL_BYTES = 32;

export interface StartOptions {
  readonly assignment: Assignment;
  readonly writer: LogWriter;
  readonly now: Clock['now'];
  readonly onActivity: () => void;
  /** Its public UDP ports opened or closed. */
  readonly onPorts: () => void;
  readonly abort: AbortSignal;
  /** What an earlier Runtime started for this installation and still runs. It is taken over, or ended first. */
  readonly survivor?: Survivor;
}

/**
 * Gets what the start of the workload needs from elsewhere: its package, and what its driver lacks.
 * @throws like `startWorkload`
 */
export async function prepareWorkload(
  { runnables, driver, core }: Pick<WorkloadParts, 'runnables' | 'driver' | 'core'>,
  { assignment, abort }: Pick<StartOptions, 'assignment' | 'abort'>,
): Promise<void> {
  const { app, manifest } = await runnables.of(assignment);
  await driver.prepare?.({ app, manifest, abort, claimImage: imageClaim(core, assignment) });
}

/**
 * Starts the workload; it may not yet listen when this resolves.
 * @throws StartRefused when no attempt can succeed; LaunchError and others when a later one may.
 */
export async function startWorkload(parts: WorkloadParts, options: StartOptions): Promise<Workload> {
  const { assignment, writer, abort } = options;
  const { installationId } = assignment;
  const { app, manifest, program } = await parts.runnables.of(assignment);
  const uid = parts.identities?.idOf(installationId);
  const newCredential = (prefix: string) => prefix + parts.random(CREDENTIAL_BYTES).toString('base64url');
  const gatewayCredential = newCredential(credentialPrefixes.gateway);
  const appCapability = newCredential(credentialPrefixes.dataPlane);
  for (const name of reservedNames(assignment)) {
    writer.append('system', `The variable ${name} of the manifest is reserved for the platform and was ignored.`);
  }
  const remark = createAnswerRemarks(writer, options.now);
  let credentials: Promise<StartCredentials> | undefined;
  let coreFailure: unknown;
  const newCredentials = () => {
    credentials ??= credentialsOf(parts.core, installationId, appCapability);
    credentials.catch((error: unknown) => {
      coreFailure = error;
    });
    return credentials;
  };
  const gatewayHooks: GatewayHooks = {
    onActivity: options.onActivity,
    log(event) {
      parts.log.warn({ installationId, ...event }, 'gateway');
      parts.metrics?.gatewayEvent(event);
      remark(event);
    },
  };
  const gatewaySettings = async (): Promise<GatewaySettings> => {
    const { coreServiceCredential, envelopeKey } = await newCredentials();
    abort.throwIfAborted();
    return {
      installationId,
      appOrigin: assignment.appOrigin,
      coreOrigin: parts.coreOrigin,
      coreHost: parts.coreHost,
      ...(parts.coreKey === undefined ? {} : { coreKey: publicKeyText(parts.coreKey) }),
      ...(parts.linkCertificate === undefined ? {} : { linkCertificate: parts.linkCertificate }),
      gatewayCredential,
      coreServiceCredential,
      envelopeKey,
      policy: assignment.gateway,
      outbound: parts.outbound,
      ...gatewayHooks,
    };
  };
  const openGateway = async (place: GatewayPlace): Promise<RunningGateway> =>
    parts.startGateway({ ...(await gatewaySettings()), ...place });
  const { volume, release } = await openVolume(parts, assignment, {
    uid,
    abort,
    epoch: async () => (await newCredentials()).epoch,
  });
  const spec: WorkloadSpec = {
    installationId,
    manifest,
    app,
    ...(volume === undefined ? {} : { volume }),
    ...(uid === undefined ? {} : { uid }),
    environment: (inside) =>
      workloadEnvironment({
        assignment,
        gatewayCredential,
        appCapability,
        inside,
        publicPorts: parts.udpPorts.of(assignment),
      }),
    gatewayUrls: gatewayUrls(assignment),
    storageUrls: storageUrls(assignment),
    fingerprint: fingerprintOf(assignment, program),
    network: assignment.network,
    openGateway,
    gatewaySettings,
    gatewayHooks,
    claimImage: imageClaim(parts.core, assignment),
    abort,
  };
  try {
    const adopted =
      options.survivor === undefined ? undefined : await takeOver(parts.driver, options.survivor, { spec, assignment });
    // Core answers while the walls are being made. Not before: new credentials end those of a workload taken over.
    if (adopted === undefined) void newCredentials();
    const startedAt = adopted === undefined ? options.now() : null;
    const instance =
      adopted ??
      (await parts.driver.start(spec).catch((error: unknown) => {
        // A driver only sees that its Gateway did not open, and would take core's silence for a fault of its own.
        throw coreFailure ?? error;
      }));
    if (volume !== undefined && assignment.volumeStore === undefined && parts.driver.makesVolumes === true)
      parts.volumes.noteMade(installationId);
    const running = assemble(instance, {
      ...options,
      tally: parts.tally,
      log: parts.log,
      udpPorts: parts.udpPorts,
      startedAt,
    });
    // The next start finds the volume free.
    const ended = running.ended.finally(release);
    // Callers that await it get the error; without one it must not be an unhandled rejection.
    ended.catch(() => undefined);
    return { ...running, ended, stop: (grace) => running.stop(grace).then(() => ended) };
  } catch (error) {
    await release();
    throw error;
  }
}

interface StartCredentials extends WorkloadStart {
  readonly envelopeKey: EnvelopeKey;
}

async function credentialsOf(
  core: WorkloadParts['core'],
  installationId: string,
  appCapability: string,
): Promise<StartCredentials> {
  const envelopeKey = await newEnvelopeKey();
  const appCapabilityHash = createHash('sha256').update(appCapability).digest('base64url');
  const start = { envelopeKey: envelopeKey.publicKey, appCapabilityHash };
  return { ...(await core.startWorkload(installationId, start)), envelopeKey };
}

interface OpenVolume {
  readonly volume?: string;
  /** To be called when the workload has ended. */
  release(): Promise<void>;
}

/** The folder of its volume; a shared one is held against all other starts until it is released. */
async function openVolume(
  parts: WorkloadParts,
  { installationId, workload, volumeStore }: Assignment,
  start: { readonly uid: number | undefined; readonly abort: AbortSignal; epoch(): Promise<number> },
): Promise<OpenVolume> {
  const release = async () => undefined;
  if (!workload.volume) return { release };
  if (volumeStore === undefined) parts.disk.requireRoom();
  if (volumeStore === undefined && parts.driver.makesVolumes === true)
    return { volume: parts.volumes.place(installationId), release };
  if (volumeStore === undefined) {
    const { diskMiB } = workload.resources;
    const attached = await parts.volumes.attach({ installationId, uid: start.uid, diskMiB });
    // One that stays mounted is found so by the next start of the workload, or of the Runtime.
    const detach = () =>
      attached.release().catch((error: unknown) => {
        parts.log.error({ installationId, err: error }, 'a volume could not be unmounted');
      });
    return { volume: attached.folder, release: detach };
  }
  if (parts.sharedVolumes?.store !== volumeStore)
    throw new StartRefused('Its volume is in a shared folder that this machine does not have.');
  const claim = await parts.sharedVolumes.claim(installationId, { ...start, epoch: await start.epoch() });
  return { volume: claim.folder, release: claim.release };
}

/** The survivor as it runs, or undefined after its end. */
async function takeOver(
  driver: Driver,
  survivor: Survivor,
  { spec, assignment }: { readonly spec: WorkloadSpec; readonly assignment: Assignment },
): Promise<WorkloadInstance | undefined> {
  const adopted = survivor.fingerprint === spec.fingerprint ? await driver.adopt(survivor, spec) : undefined;
  if (adopted === undefined) await driver.destroy(survivor);
  // Its Gateway has the policy that was in effect when the earlier Runtime ended.
  else await adopted.gateway.apply(assignment.gateway);
  return adopted;
}

interface Assembly extends StartOptions, Pick<WorkloadParts, 'tally' | 'udpPorts' | 'log'> {
  /** `null` when it was taken over. */
  readonly startedAt: Date | null;
}

function assemble(
  instance: WorkloadInstance,
  { assignment, writer, now, tally, log, udpPorts, startedAt, onPorts }: Assembly,
): Workload {
  const intake = createLogIntake(writer);
  intake.take(instance.stdout, 'stdout');
  intake.take(instance.stderr, 'stderr');
  const uncount = tally.run({ gateway: instance.gateway, logLinesDropped: intake.dropped });
  let stopping = false;
  const ended = instance.exited.then(async (exit) => {
    // The Gateway first: afterwards the socket's number may stand for something else.
    await instance.gateway.close();
    instance.release();
    await intake.ended();
    uncount();
    return stopping && exit.signal === 'SIGKILL' ? { ...exit, reason: KILLED } : exit;
  });
  // Callers that await it get the error; without one it must not be an unhandled rejection.
  ended.catch(() => undefined);
  const change = oneAtATime();
  let latest = assignment;
  let published: readonly PublicPortStatus[] = [];
  const publish = async (next: Assignment): Promise<void> => {
    const bindings = udpPorts.of(next);
    if (bindings.length + published.length === 0) return;
    const closed = await instance.publishUdp(bindings);
    published = bindings.map(({ hostAddress: _, ...shown }) => {
      const why = closed.get(shown.name);
      return why === undefined ? shown : { ...shown, closed: why };
    });
    onPorts();
  };
  // It runs already and its ports follow: a datagram that comes too early is one that was lost.
  change(() => publish(assignment)).catch((error: unknown) => {
    log.error({ installationId: assignment.installationId, err: error }, 'UDP ports could not be published');
  });
  return {
    gateway: instance.gateway,
    listening: instance.listening,
    ports: instance.ports,
    shortfalls: () => [...instance.shortfalls(), ...udpPorts.missing(latest)],
    publicPorts: () => published,
    applyGrants(next) {
      latest = next;
      return change(async () => {
        await Promise.all([instance.applyNetworkPolicy(next.network), instance.gateway.apply(next.gateway)]);
        await publish(next);
      });
    },
    ended,
    usage: createUsage({
      instance,
      resources: assignment.workload.resources,
      logLinesDropped: intake.dropped,
      startedAt,
      now,
    }),
    async stop(graceMilliseconds = GRACE_MILLISECONDS) {
      stopping = true;
      await instance.stop(graceMilliseconds);
      return ended;
    },
  };
}
