// Starts workloads through a driver as the Runtime does: with an environment, a volume and a real Gateway, and in front
// of it all a core that records what it is asked.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import type { Assignment } from '@platform/contract';
import { newEnvelopeKey } from '@platform/link';
import { startGateway } from '../../../../tests/support/gateway.ts';
import { until } from '../../../../tests/support/wait.ts';
import type { Driver, NetworkPolicy, Survivor, WorkloadInstance, WorkloadSpec } from '../../src/drivers/driver.ts';
import type { Exit } from '../../src/drivers/exit-reason.ts';
import { gatewayUrls, storageUrls, workloadEnvironment } from '../../src/environment.ts';
import type { GatewayHooks, GatewaySettings } from '../../src/gateway-port.ts';
import { type AttachedVolume, openVolumes } from '../../src/volumes/volumes.ts';
import { makeAssignment } from '../core-double.ts';
import { openDoor } from '../door.ts';
import { gather } from '../gather.ts';
import { makePlace, type Place } from '../place.ts';
import { portOf } from '../port-of.ts';
import { openCore, type RecordingCore } from './recording-core.ts';
import type { Probe, ProbeAnswer } from './subject.ts';
import { type DriverUnderTest, openUnderTest } from './under-test.ts';

export interface StartRequest {
  /** The same installation keeps its volume and its user. Default: a new one. */
  readonly installation?: Assignment;
  /** Code of the workload. Default: `workloads/subject.mjs`. */
  readonly source?: string;
  /** Further files of the package's `workload/` folder. */
  readonly files?: Readonly<Record<string, Buffer>>;
  /** Members of the manifest that differ from the default; for a new installation only. */
  readonly workload?: Readonly<Record<string, unknown>>;
  readonly abort?: AbortSignal;
  /** Default: every image may be taken. */
  readonly claimImage?: (bytes: number) => Promise<void>;
  /** Default: that of the driver under test. */
  readonly network?: NetworkPolicy;
  /** Of its Gateway. Default: one that grants nothing. */
  readonly policy?: Assignment['gateway'];
  /** Called when the Gateway stands and the workload runs no code yet. */
  readonly onGateway?: () => Promise<void> | void;
}

export interface CallAnswer {
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export interface Started {
  readonly assignment: Assignment;
  readonly instance: WorkloadInstance;
  /** `pgw_…` of this start. */
  readonly gatewayCredential: string;
  readonly appCapability: string;
  /** `pcs_…` of this start. */
  readonly coreServiceCredential: string;
  output(): string;
  errors(): string;
  /** Resolves when it listens; fails with what it said when it never does. */
  listens(): Promise<void>;
  /** One request through the way in. */
  ask(path: string): Promise<string>;
  /** One request through the way in, with whatever answer. */
  call(path: string): Promise<CallAnswer>;
  /** Runs code inside; only with `workloads/subject.mjs`. */
  run<Arguments extends readonly unknown[], Value>(probe: Probe<Arguments, Value>, ...args: Arguments): Promise<Value>;
  /** Ends it and gives back everything. Default grace: 5 s. */
  stop(graceMilliseconds?: number): Promise<Exit>;
  /** Waits until it ends by itself, and gives back everything. */
  ended(): Promise<Exit>;
}

export interface ConformanceBench {
  readonly place: Place;
  readonly driver: Driver;
  readonly core: RecordingCore;
  /** Milliseconds that a process sandbox would be given, times what this driver may take. */
  limit(milliseconds: number): number;
  /** An installation that can be started more than once. */
  installation(workload?: Readonly<Record<string, unknown>>): Assignment;
  /** One that an earlier bench has made. */
  known(installationId: string, workload?: Readonly<Record<string, unknown>>): Assignment;
  /** As root: the user of an installation. */
  uid(installation: Assignment): number | undefined;
  /** Why the size of its volume is not limited on this machine; undefined when it is. */
  unlimitedVolume(installation: Assignment): string | undefined;
  start(request?: StartRequest): Promise<Started>;
  /** Takes over what an earlier bench on the same place started. Its credentials stay as they are. */
  adopt(survivor: Survivor, request: StartRequest): Promise<Started | undefined>;
  close(): Promise<void>;
}

type Prepared = Pick<Started, 'assignment' | 'gatewayCredential' | 'appCapability' | 'coreServiceCredential'> & {
  readonly spec: WorkloadSpec;
  readonly volume: AttachedVolume | undefined;
};

/** The subject of most tests, as text: every start gets a package folder of its own. */
export const SUBJECT = readFileSync(new URL('workloads/subject.mjs', import.meta.url), 'utf8');
const CORE_HOST = 'core.test';
const FIRST_UID = 2_900_001;
const isRoot = process.getuid?.() === 0;

/** `folder` of an earlier bench is opened again, as the next Runtime would. */
export async function openBench(under: DriverUnderTest, former?: Place): Promise<ConformanceBench> {
  const place = former ?? makePlace();
  const volumes = openVolumes(join(place.folder, 'volumes'));
  const uids = new Map<string, number>();
  const core = await openCore();
  const limit = (milliseconds: number) => milliseconds * (under.timeFactor ?? 1);
  const driver = await openUnderTest(under.module.href, place.folder, under.options).catch((error) => {
    core.server.close();
    throw error;
  });

  // As the Runtime does: what survived keeps its volume mounted, and nothing else does.
  await volumes.sweep((await driver.list()).map(({ installationId }) => installationId));

  const uidOf = (id: string) => {
    const uid = uids.get(id) ?? FIRST_UID + uids.size;
    uids.set(id, uid);
    return isRoot ? uid : undefined;
  };

  async function attach(assignment: Assignment): Promise<AttachedVolume | undefined> {
    const { installationId, workload } = assignment;
    if (!workload.volume) return undefined;
    if (driver.makesVolumes === true) return { folder: volumes.place(installationId), release: async () => undefined };
    return volumes.attach({ installationId, uid: uidOf(installationId), diskMiB: workload.resources.diskMiB });
  }

  async function specOf(request: StartRequest): Promise<Prepared> {
    const assignment = request.installation ?? makeInstallation(request.workload);
    const { installationId, workload } = assignment;
    const gatewayCredential = `pgw_${randomBytes(32).toString('base64url')}`;
    const appCapability = `pdc_${randomBytes(32).toString('base64url')}`;
    const coreServiceCredential = `pcs_${randomBytes(32).toString('base64url')}`;
    const uid = uidOf(installationId);
    const hooks: GatewayHooks = { onActivity() {}, log() {} };
    const volume = await attach(assignment);
    const settings: GatewaySettings = {
      installationId,
      appOrigin: assignment.appOrigin,
      coreOrigin: `http://127.0.0.1:${core.port}`,
      coreHost: CORE_HOST,
      gatewayCredential,
      coreServiceCredential,
      envelopeKey: await newEnvelopeKey(),
      policy: request.policy ?? { revision: 0 },
      outbound: { privateOrigins: [], ca: null },
      ...hooks,
    };
    const spec: WorkloadSpec = {
      installationId,
      manifest: workload,
      app: packageFolder(place, request),
      ...(volume === undefined ? {} : { volume: volume.folder }),
      ...(uid === undefined ? {} : { uid }),
      environment: (inside) => workloadEnvironment({ assignment, gatewayCredential, appCapability, inside }),
      gatewayUrls: gatewayUrls(assignment),
      storageUrls: storageUrls(assignment),
      network: request.network ?? under.network ?? { public: false, tunnel: false },
      fingerprint: fingerprintOf(assignment),
      async openGateway(where) {
        const gateway = await startGateway({ ...settings, ...where });
        await request.onGateway?.();
        return gateway;
      },
      async gatewaySettings() {
        await request.onGateway?.();
        return settings;
      },
      gatewayHooks: hooks,
      claimImage: request.claimImage ?? (async () => undefined),
      abort: request.abort ?? new AbortController().signal,
    };
    return { assignment, spec, volume, gatewayCredential, appCapability, coreServiceCredential };
  }

  async function start(request: StartRequest = {}): Promise<Started> {
    const { spec, volume, ...given } = await specOf(request);
    const instance = await driver.start(spec).catch(async (error: unknown) => {
      await volume?.release();
      throw error;
    });
    // What a test asks for by itself it judges by itself.
    const missing = under.network === undefined || request.network !== undefined ? [] : instance.shortfalls();
    const started = await running({ ...given, volume, instance }, limit);
    if (missing.length === 0) return started;
    await started.stop(0);
    throw new Error(missing.join(' '));
  }

  async function adopt(survivor: Survivor, request: StartRequest): Promise<Started | undefined> {
    const { spec, volume, ...given } = await specOf(request);
    const instance = await driver.adopt(survivor, spec);
    if (instance === undefined) await volume?.release();
    return instance === undefined ? undefined : running({ ...given, volume, instance }, limit);
  }

  return {
    place,
    driver,
    core,
    limit,
    installation: makeInstallation,
    known: (installationId, workload) => makeInstallation(workload, installationId),
    uid: ({ installationId }) => uidOf(installationId),
    unlimitedVolume: ({ installationId }) =>
      driver.makesVolumes === true ? undefined : volumes.unlimited(installationId),
    start,
    adopt,
    async close() {
      await driver.close();
      await volumes.sweep();
      core.server.close();
      core.server.closeAllConnections();
    },
  };
}

function packageFolder(place: Place, { source, files }: StartRequest): string {
  const app = place.workload('subject', source ?? SUBJECT);
  for (const [name, content] of Object.entries(files ?? {})) {
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) makeFolder(join(app, name.slice(0, at)));
    writeFileSync(join(app, name), content);
    // Programs can be run, as the store of packages leaves them.
    chmodSync(join(app, name), /^(\x7fELF|#!)/.test(content.toString('latin1', 0, 4)) ? 0o755 : 0o644);
  }
  return app;
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
}

/** A bench that knows the same installation calls it the same. */
function fingerprintOf({ installationId }: Assignment): string {
  return createHash('sha256').update(installationId).digest('hex');
}

function makeInstallation(
  workload: Readonly<Record<string, unknown>> = {},
  // Like no other on this machine: the tests look for what is left of it.
  installationId = `inst-01890000-0000-7000-8000-${randomBytes(6).toString('hex')}`,
): Assignment {
  const resources = { memoryMiB: 128, cpus: 1, pids: 64, ...(workload.resources ?? {}) };
  return makeAssignment('0'.repeat(64), { installationId, workload: { ...workload, resources } });
}

async function running(
  given: Pick<Started, 'assignment' | 'instance' | 'gatewayCredential' | 'appCapability' | 'coreServiceCredential'> & {
    readonly volume: AttachedVolume | undefined;
  },
  limit: ConformanceBench['limit'],
): Promise<Started> {
  const { instance } = given;
  const output = gather(instance.stdout);
  const errors = gather(instance.stderr);
  // The way in as the node listener uses it.
  const door = openDoor(instance.gateway);
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const ask = (path: string, body?: string) => request({ port: portOf(door) }, path, body);

  async function release(exit: Promise<Exit>): Promise<Exit> {
    const result = await exit;
    door.close();
    door.closeAllConnections();
    await instance.gateway.close();
    instance.release();
    await given.volume?.release();
    await Promise.all([output.closed, errors.closed]);
    return result;
  }

  return {
    ...given,
    output: output.text,
    errors: errors.text,
    async listens() {
      if (await instance.listening(AbortSignal.timeout(limit(20_000)))) return;
      throw new Error(`It does not listen. It said: ${output.text()} ${errors.text()}`);
    },
    async ask(path) {
      const { status, text } = await ask(path);
      if (status !== 200) throw new Error(text);
      return text;
    },
    call: (path) => ask(path).catch(() => ({ status: undefined, headers: {}, text: '' })),
    run: (probe, ...args) => runInside(ask, probe, args),
    stop: (grace = 5_000) => release(instance.stop(grace)),
    ended: () => release(instance.exited),
  };
}

/** One request to a local port or socket. */
export function request(
  to: { readonly port: number } | { readonly socketPath: string },
  path: string,
  body?: string,
): Promise<CallAnswer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = http.request({ host: '127.0.0.1', ...to, path, method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Runs code in `workloads/subject.mjs`, which is reached by `ask`. */
export async function runInside<Arguments extends readonly unknown[], Value>(
  ask: (path: string, body: string) => Promise<CallAnswer>,
  probe: Probe<Arguments, Value>,
  args: Arguments,
): Promise<Value> {
  const { text } = await ask('/run', JSON.stringify({ source: probe.toString(), args }));
  // Our own workload wrote it.
  const answer = JSON.parse(text) as ProbeAnswer;
  if (answer.error !== undefined) throw new Error(`inside: ${answer.error}`);
  return answer.value as Value;
}

/** The first line of a workload's output that is JSON. */
export async function firstReport<Report>(started: Started, limit: number): Promise<Report> {
  const line = await until(
    'the report of the workload',
    () =>
      started
        .output()
        .split('\n')
        .find((text, index, all) => text.startsWith('{') && index < all.length - 1),
    limit,
  );
  return JSON.parse(line) as Report;
}
