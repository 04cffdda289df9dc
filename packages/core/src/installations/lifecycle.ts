// Starts and stops the backend of an installed app and reads its state and log, on the node where it runs.
import type { InstallationDetail, LogEntry, WorkloadDetail } from '@platform/contract';
import { grantedWorkload, type InstallationId, RefusalError, refuse } from '@platform/contract';
import { selectPausedAt } from '../accounts/pause-queries.ts';
import { isSuspended } from '../accounts/suspension-queries.ts';
import type { CoreContext } from '../context.ts';
import { pausedRefusal, suspendedRefusal } from '../http/paused-refusal.ts';
import { unreviewedRefusal } from '../http/unreviewed-refusal.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { assignmentsChanged } from '../placement/assignments.ts';
import { lockOwn, type OwnInstallation, STOPPED, selectOwn, updateStopped } from './queries.ts';

interface LogPage {
  readonly items: LogEntry[];
  readonly nextCursor: string | null;
}

/**
 * Every function throws RefusalError as {@link withWorkload}, and what {@link Nodes} throws; starting
 * also `runtime_paused`.
 */
export async function startApp(
  context: CoreContext,
  nodes: Nodes,
  accountKey: string,
  appId: string,
): Promise<WorkloadDetail> {
  if ((await selectPausedAt(context.database, accountKey)) !== null) throw pausedRefusal();
  // Its owner has no session; the operator may ask.
  if (await isSuspended(context.database, accountKey)) throw suspendedRefusal();
  const id = await setStopped(context, accountKey, appId, false);
  return workloadDetail(await ofInstalled(context, accountKey, appId, () => nodes.start(id)), false);
}

/** The backend stays stopped until it is started again: being used does not wake it. */
export async function stopApp(
  context: CoreContext,
  nodes: Nodes,
  accountKey: string,
  appId: string,
): Promise<WorkloadDetail> {
  const id = await setStopped(context, accountKey, appId, true);
  return workloadDetail(await ofInstalled(context, accountKey, appId, () => nodes.stop(id)), true);
}

export async function readStatus(
  context: CoreContext,
  nodes: Nodes,
  accountKey: string,
  appId: string,
): Promise<WorkloadDetail> {
  const { id, stopped } = withWorkload(await selectOwn(context.database, accountKey, appId));
  return workloadDetail(await ofInstalled(context, accountKey, appId, () => nodes.status(id)), stopped);
}

export async function readLogs(
  context: CoreContext,
  nodes: Nodes,
  accountKey: string,
  appId: string,
  query: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<LogPage> {
  const { id } = withWorkload(await selectOwn(context.database, accountKey, appId));
  const list = logList(id);
  const before = query.cursor === undefined ? undefined : String(context.cursors.decode(list, query.cursor));
  const page = await nodes.logs(id, { limit: query.limit, before });
  return { items: page.items, nextCursor: page.before === null ? null : context.cursors.encode(list, page.before) };
}

/** Stores the owner's desired state before core notifies the node, so that the node does not undo it. */
async function setStopped(
  context: CoreContext,
  accountKey: string,
  appId: string,
  stopped: boolean,
): Promise<InstallationId> {
  return context.database.transaction().execute(async (trx) => {
    const installation = withWorkload(await lockOwn(trx, accountKey, appId));
    if (installation.stopped !== stopped) {
      await updateStopped(trx, installation.id, stopped);
      if (stopped) await context.lifecycle.installationStopped(trx, installation.id);
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
