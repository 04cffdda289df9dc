// Opening an app: the launch descriptor, with a capability that works once, at once, and only at the app's own origin, and
// with what this client reaches the backend with (specification 2.2, 5.2; contract 3).
import { LAUNCH_MARK, type LaunchDescriptor, limits, refuse } from '@platform/contract';
import type { SessionCaller } from '../accounts/face.ts';
import { clientCapability } from '../clients/face.ts';
import { appOrigin, servicesOrigin } from '../config/config.ts';
import { usableOrigin } from '../config/node-origin.ts';
import type { CoreContext } from '../context.ts';
import { hashCredential, newCredential } from '../credentials/credential.ts';
import { dataPlaneCapability } from '../credentials/master-key.ts';
import { isMissingReference } from '../database/missing-reference.ts';
import { pausedRefusal } from '../http/paused-refusal.ts';
import { placeAtFirstUse } from '../placement/face.ts';
import { issueLaunch, type LaunchRow } from './capability-queries.ts';

/**
 * @throws RefusalError `not_found` for an app that is not installed or has nothing to open, `session_expired`, `runtime_paused`,
 *   `workload_unavailable` while its node has no origin of its own, `disk_quota` at the first use of a backend whose volume the account
 *   cannot take
 */
export async function launchApp(context: CoreContext, caller: SessionCaller, appId: string): Promise<LaunchDescriptor> {
  const opened = await openLaunch(context, caller, appId);
  const { id, has_workload, node_local } = opened.row;
  // Opening an app is a use of its backend, whose address the descriptor names.
  const isPlacedNow = has_workload && node_local === null && (await placeAtFirstUse(context, id));
  return describeLaunch(context, caller, appId, isPlacedNow ? await openLaunch(context, caller, appId) : opened);
}

interface Opened {
  readonly row: LaunchRow;
  readonly frontendCapability: string;
}

async function openLaunch(context: CoreContext, caller: SessionCaller, appId: string): Promise<Opened> {
  const frontendCapability = newCredential('frontend', context.random);
  const row = await keepLaunch(context, caller, appId, hashCredential(frontendCapability));
  if (row.frontend == null && !row.has_workload) throw refuse('not_found', 'This app has nothing to open.');
  if (row.paused) throw pausedRefusal();
  if (!row.live) throw refuse('session_expired');
  return { row, frontendCapability };
}

async function describeLaunch(
  context: CoreContext,
  caller: SessionCaller,
  appId: string,
  { row, frontendCapability }: Opened,
): Promise<LaunchDescriptor> {
  const { config } = context;
  const { frontend } = row;
  const origin = appOrigin(config, appId, row.host_label);
  const backend = row.has_workload ? await backendOf(context, caller, row) : null;
  if (frontend == null) {
    const permissions = row.grants;
    return { appId, origin, url: null, chrome: 'auto', permissions, frontendCapability: null, backend };
  }
  const fragment = base64urlJson({
    capability: frontendCapability,
    ticket: backend?.endpointTicket ?? null,
    dataPlane: backend?.capability ?? null,
    api: servicesOrigin(config),
    shell: config.origin,
  });
  return {
    appId,
    origin,
    url: `${origin}${entryPath(frontend.entry)}${LAUNCH_MARK}${fragment}`,
    chrome: frontend.chrome,
    permissions: row.grants,
    frontendCapability,
    backend,
  };
}

async function backendOf(
  context: CoreContext,
  { sessionId }: SessionCaller,
  row: LaunchRow,
): Promise<NonNullable<LaunchDescriptor['backend']>> {
  const { id, endpoint_id, node_asks, generation } = row;
  const ticket = endpointTicket(requireOrigin(context, row), endpoint_id);
  const capability = node_asks
    ? await clientCapability(context, { installationId: id, sessionId })
    : dataPlaneCapability(context.masterKey, id, generation);
  return { endpointTicket: ticket, capability };
}

/** No capability is made for an address that is not the node's own. */
function requireOrigin(context: CoreContext, row: LaunchRow): string {
  const origin = usableOrigin(context, row);
  if (origin !== null) return origin;
  throw refuse(
    'workload_unavailable',
    'The machine that runs the backend of this app has no valid address. Its operator has to set PLATFORM_NODE_ORIGIN.',
  );
}

async function keepLaunch(
  context: CoreContext,
  { accountKey, sessionId }: SessionCaller,
  appId: string,
  tokenHash: Buffer,
): Promise<LaunchRow> {
  const now = context.clock();
  const expiresAt = new Date(now.getTime() + limits.launchCapabilitySeconds.value * 1_000);
  const kept = limits.frontendCapabilities.value - 1;
  const launch = { accountKey, appId, sessionId, tokenHash, now, expiresAt, kept, proven: context.time.proven() };
  const row = await issueLaunch(context.pool, launch).catch((error: unknown) => {
    // The session ended while the statement ran.
    if (isMissingReference(error)) throw refuse('session_expired');
    throw error;
  });
  if (row === undefined) throw refuse('not_found');
  return row;
}

/** Path of the entry document; `index.html` of the root is the root. */
function entryPath(entry: string): string {
  return entry === 'index.html' ? '/' : `/${entry.split('/').map(encodeURIComponent).join('/')}`;
}

/** Where the backend of the installation is reached; opaque to its holder. */
function endpointTicket(nodeOrigin: string, endpointId: string): string {
  return `pet1.${base64urlJson({ url: `${nodeOrigin}/e/${endpointId}` })}`;
}

function base64urlJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
