// The HTTP sides of a node: endpoints, where browsers reach backends; control, where core does; and public, where Ingresses do.
import { refuse } from '@platform/contract';
import type { Installation } from '../lifecycle/installation.ts';
import type { NodeMeans, Wanted } from '../node-means.ts';
import type { Fleet } from '../reconcile.ts';
import type { RuntimeOptions } from '../runtime-options.ts';
import { type ControlParts, handleControl } from './control.ts';
import { type ControlListener, openControl } from './control-side.ts';
import { connectEndpoint, type Endpoints, handleEndpoint } from './endpoints.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { type NodeIroh, openNodeIroh } from './node-iroh.ts';
import { openPublicSide, type PublicSide, type PublicSideOptions } from './public.ts';
import { sendVolume } from './send-volume.ts';

const CREDENTIAL_BYTES = 32;
const NEWLY_ASSIGNED_WAIT = 3_000;
/** An Ingress may know of a name before this node does; its client waits for at most 2 s in all (contract 4e). */
const NEW_NAME_WAIT = 1_000;
const LISTENER_GRACE = 2_000;

export interface NodeSides {
  readonly endpoints: HttpServer;
  readonly control: ControlListener & { readonly credential: string };
  readonly publicSide: PublicSide;
  /** What finds the backends that `endpoints` serves. */
  readonly backends: Endpoints;
  /** `null` where core and Ingresses come over TCP. */
  readonly iroh: NodeIroh | null;
  close(): Promise<unknown>;
}

export interface SideParts {
  readonly fleet: Fleet;
  readonly means: Pick<NodeMeans, 'logs' | 'volumes' | 'sharedVolumes' | 'resting'>;
  readonly wanted: Wanted;
  /** Aborted when the Runtime stops. */
  readonly ending: AbortSignal;
}

/** @throws Error when one of them cannot listen */
export async function openSides(options: RuntimeOptions, parts: SideParts): Promise<NodeSides> {
  const { fleet, wanted } = parts;
  const onWake = () => options.metrics?.woken();
  const requireInformed = (found: Installation | undefined) => {
    if (found === undefined && !wanted.isInformed)
      throw refuse('workload_unavailable', 'This machine is still loading its list of apps.', { retryAfter: 1 });
    return found;
  };
  const backends: Endpoints = {
    find: async (id) => requireInformed(await fleet.awaitEndpoint(id, NEWLY_ASSIGNED_WAIT)),
    onWake,
  };
  const endpoints = await openEndpoints(options, backends);
  const { nodeKey: key } = options;
  const iroh = options.iroh === undefined || key === undefined ? null : await openNodeIroh({ ...options.iroh, key });
  const calls = controlParts(options, parts, onWake);
  const control = await openControl(options, iroh, (incoming) => handleControl(calls, incoming));
  const publicSide = await openPublicSide({
    ...publicOver(options, iroh),
    credential: `pni_${options.random(CREDENTIAL_BYTES).toString('base64url')}`,
    find: (hostname) =>
      fleet.atHostname(hostname) ?? fleet.awaitHostname(hostname, NEW_NAME_WAIT).then(requireInformed),
    onWake,
    log: options.log,
  });
  return {
    endpoints,
    control: { ...control, credential: calls.credential },
    publicSide,
    backends,
    iroh,
    close: () => Promise.all([endpoints, control, publicSide].map((side) => side.close(LISTENER_GRACE))),
  };
}

function openEndpoints(
  { nodeOrigin, listenHost, listenPort, log }: RuntimeOptions,
  backends: Endpoints,
): Promise<HttpServer> {
  const { host: ownHost, protocol } = new URL(nodeOrigin);
  return startHttpServer({
    host: listenHost,
    port: listenPort,
    isOwnHost: (name) => name === ownHost,
    strictTransport: protocol === 'https:',
    handle: (incoming) => handleEndpoint(backends, incoming),
    connect: (incoming) => connectEndpoint(backends, incoming),
    browsers: true,
    log,
  });
}

/** What core may do to the installations of this node. */
function controlParts(
  { random, log }: RuntimeOptions,
  { fleet, means, ending }: SideParts,
  onWake: () => void,
): ControlParts {
  const { logs, volumes, sharedVolumes, resting } = means;
  return {
    credential: `pnc_${random(CREDENTIAL_BYTES).toString('base64url')}`,
    find: (id) => fleet.awaitAssigned(id, NEWLY_ASSIGNED_WAIT),
    onWake,
    async forget(id) {
      await fleet.remove(id);
      await logs.remove(id);
    },
    async deleteVolume(id) {
      if (fleet.find(id) !== undefined)
        throw refuse('workload_unavailable', 'Its app is still installed on its machine, or being removed. Try again.');
      // Until it has stopped.
      await fleet.remove(id);
      await volumes.remove(id);
      await sharedVolumes?.remove(id, ending);
    },
    sendVolume: (id, res) => sendVolume({ fleet, resting, volumes, sharedVolumes, log }, id, res, ending),
    async volumeUse(id) {
      const bytes = await volumes.use(id);
      // Not made yet; in a shared folder it may be there, and nothing counts it.
      return bytes === undefined ? (sharedVolumes === undefined ? 0 : null) : bytes;
    },
    logs,
    ending,
  };
}

function publicOver({ public: at, nodeKey }: RuntimeOptions, iroh: NodeIroh | null): Pick<PublicSideOptions, 'over'> {
  if (nodeKey === undefined) return {};
  if (iroh !== null) return { over: { key: nodeKey, iroh } };
  return at === undefined ? {} : { over: { ...at, key: nodeKey } };
}
