// Starts and stops the backend of an installed app and reads its state and log, on the node where it runs.
import type { InstallationDetail, LogEntry, StoppedBy, WorkloadDetail } from '@platform/contract';
import { grantedWorkload, type InstallationId, RefusalError, refuse } from '@platform/contract';
import { isSuspended, selectPausedAt } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { pausedRefusal, suspendedRefusal } from '../http/paused-refusal.ts';
import { unreviewedRefusal } from '../http/unreviewed-refusal.ts';
import { assignmentsChanged } from '../placement/face.ts';
import { isDataBeingDeleted } from './data-queries.ts';
import { lockOwn, type OwnInstallation, STOPPED, selectOwn, updateStopped } from './queries.ts';

interface LogPage {
  readonly items: LogEntry[];
  readonly nextCursor: string | null;
}

/**
 * Every function throws RefusalError as {@link withWorkload}, and what {@link Nodes} throws; starting
 * also `runtime_paused`.
 */
export async function startApp(context: CoreContext, accountKey: string, appId: string): Promise<WorkloadDetail> {
  if ((await selectPausedAt(context.database, accountKey)) !== null) throw pausedRefusal();
  // Its owner has no session; the operator may ask.
  if (await isSuspended(context.database, accountKey)) throw suspendedRefusal();
  const { id: installed } = withWorkload(await selectOwn(context.database, accountKey, appId));
  if (await isDataBeingDeleted(context.database, installed))
    throw refuse('workload_unavailable', `${DELETING} It can start afterwards.`, { retryAfter: 5 });
  const id = await setStopped(context, accountKey, appId, null);
  return detailOf(context, accountKey, appId, () => context.nodes.start(id));
}

/** Who stops a backend: a person, or an app of the account (`app:<id>`). */
export type Stopper = 'owner' | 'operator' | `app:${string}`;

/** The backend stays stopped until it is started again: being used does not wake it. */
export async function stopApp(
  context: CoreContext,
  { accountKey, appId }: { readonly accountKey: string; readonly appId: string },
  by: Stopper,
): Promise<WorkloadDetail> {
  const id = await setStopped(context, accountKey, appId, by);
  return detailOf(context, accountKey, appId, () => context.nodes.stop(id));
}

export async function readStatus(context: CoreContext, accountKey: string, appId: string): Promise<WorkloadDetail> {
  const { id } = withWorkload(await selectOwn(context.database, accountKey, appId));
  if (await isDataBeingDeleted(context.database, id)) return deletingDetail(context);
  return detailOf(context, accountKey, appId, () => context.nodes.status(id));
}

/** Newest lines first. @throws RefusalError `not_found` without a backend, `workload_unavailable` */
export async function readLogs(
  context: CoreContext,
  accountKey: string,
  appId: string,
  query: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<LogPage> {
  const { id } = withWorkload(await selectOwn(context.database, accountKey, appId));
  const list = logList(id);
  const before = query.cursor === undefined ? undefined : String(context.cursors.decode(list, query.cursor));
  const page = await context.nodes.logs(id, { limit: query.limit, before });
  return { items: page.items, nextCursor: page.before === null ? null : context.cursors.encode(list, page.before) };
}

/** Stores the desired state before core notifies the node, so that the node does not undo it. */
async function setStopped(
  context: CoreContext,
  accountKey: string,
  appId: string,
  by: Stopper | null,
): Promise<InstallationId> {
  return context.database.transaction().execute(async (trx) => {
    const installation = withWorkload(await lockOwn(trx, accountKey, appId));
    if (installation.stopped !== (by !== null)) {
      await updateStopped(trx, installation.id, by);
      if (by !== null) await context.lifecycle.installationStopped(trx, installation.id);
      await assignmentsChanged(trx, null);
    }
    return installation.id;
  });
}

/**
 * What the node answers. An app that was removed meanwhile is `not_found`: its node has forgotten it by then, which is
 * no failure of the node.
 */
async function ofInstalled<Answer>(
  context: CoreContext,
  accountKey: string,
  appId: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    withWorkload(await selectOwn(context.database, accountKey, appId));
    throw error;
  }
}

/** The list that cursors of a log belong to. */
export function logList(id: InstallationId): string {
  return `logs:${id}`;
}

/** @throws RefusalError `not_found` for what is not installed or has no backend, `workload_unavailable` for one not reviewed */
export function withWorkload(installation: OwnInstallation | undefined): OwnInstallation {
  if (installation === undefined) throw refuse('not_found');
  const { manifest, resources } = installation;
  if (manifest.workload === undefined) throw refuse('not_found', 'This app has no backend.');
  if (grantedWorkload(manifest.workload, resources) === undefined) throw unreviewedRefusal();
  return installation;
}

/** What the node answers, with what core alone knows: who stopped the backend. */
async function detailOf(
  context: CoreContext,
  accountKey: string,
  appId: string,
  ask: () => Promise<InstallationDetail>,
): Promise<WorkloadDetail> {
  const detail = await ofInstalled(context, accountKey, appId, ask);
  if (detail.state !== 'stopped') return workloadDetail(detail, false);
  const { stopped, stopped_by: by } = withWorkload(await selectOwn(context.database, accountKey, appId));
  const stoppedBy = await stopperOf(context, accountKey, { stopped, by, reason: detail.reason });
  return { ...workloadDetail(detail, stopped), stoppedBy };
}

const DELETING = 'Its data is being deleted.';

/** No node has it meanwhile. */
function deletingDetail({ clock }: CoreContext): WorkloadDetail {
  return {
    state: 'stopped',
    since: clock().toISOString(),
    reason: DELETING,
    restarts: 0,
    stoppedBy: { kind: 'platform' },
    lastExit: null,
    unenforced: [],
    usage: null,
  };
}

interface Stopped {
  readonly stopped: boolean;
  /** As {@link Stopper}; `null` where that was not kept. */
  readonly by: string | null;
  /** Of the node. */
  readonly reason: string | undefined;
}

async function stopperOf(
  { database }: CoreContext,
  accountKey: string,
  { stopped, by, reason }: Stopped,
): Promise<StoppedBy> {
  if (await isSuspended(database, accountKey)) return { kind: 'suspension' };
  if ((await selectPausedAt(database, accountKey)) !== null) return { kind: 'pause' };
  if (!stopped) return { kind: reason === undefined ? 'idle' : 'platform' };
  if (by?.startsWith('app:')) return { kind: 'app', appId: by.slice('app:'.length) };
  return { kind: by === 'operator' ? 'operator' : 'owner' };
}

/** What an owner sees; a workload that should run and does not explains itself by how it last ended. */
function workloadDetail(detail: InstallationDetail, stopped: boolean): WorkloadDetail {
  const { state, since, restarts, lastExit, unenforced, usage, publicPorts } = detail;
  const atRest = state === 'running' || state === 'stopped';
  const why = stopped && state === 'stopped' ? STOPPED : (detail.reason ?? (atRest ? undefined : lastExit?.reason));
  const ports = publicPorts === undefined ? {} : { publicPorts };
  return {
    state,
    since,
    restarts,
    ...(why === undefined ? {} : { reason: why }),
    ...ports,
    lastExit,
    unenforced,
    usage,
  };
}
