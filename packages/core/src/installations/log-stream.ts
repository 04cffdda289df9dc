// The log of a backend as a live stream to its owner. The node gives a piece when the reader has taken the last one, so
// a flood waits on the node's disk and nowhere else.
import type { InstallationId, LogEvent, NodeLogPiece } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { EventConnection } from '../events/event-connection.ts';
import { lastEventId, openStream } from '../events/open-stream.ts';
import type { RouteCall } from '../http/handlers.ts';
import { logList, withWorkload } from './lifecycle.ts';
import { selectOwn } from './queries.ts';

type Call = Pick<RouteCall<'apps.logs.stream'>, 'caller' | 'params' | 'query' | 'request' | 'reply' | 'stillAllowed'>;

/**
 * Opens the stream and answers when its head is written. It ends with the session, the installation or its node.
 *
 * @throws RefusalError `not_found` for an app without a backend, `concurrency_limited` beyond `limits.eventStreams`,
 *   `workload_unavailable` when the node does not answer
 */
export async function streamLogs(context: CoreContext, call: Call): Promise<{ readonly streamed: true }> {
  const { caller, params, query, request, reply } = call;
  const { id } = withWorkload(await selectOwn(context.database, caller.accountKey, params.appId));
  const connection = new EventConnection(reply.raw);
  endWithInstallation(context, { accountKey: caller.accountKey, appId: params.appId, id }, connection);
  return openStream(context, call, {
    connection,
    async begin() {
      const after = lastEventId(request, 15);
      const start = after === null ? { newest: query.newest } : { after: Number(after) };
      const pieces = await context.nodes.followLogs(id, start, connection.over);
      return { id: null, send: () => void pass({ context, connection, id }, pieces) };
    },
  });
}

interface Passage {
  readonly context: CoreContext;
  readonly connection: EventConnection;
  readonly id: InstallationId;
}

async function pass(
  { context, connection, id }: Passage,
  pieces: AsyncGenerator<NodeLogPiece, void, undefined>,
): Promise<void> {
  const send = ({ items, last, missed, before }: NodeLogPiece) => {
    const older = before == null ? before : context.cursors.encode(logList(id), before);
    const event: LogEvent = { event: 'lines', data: { items, missed, ...(older === undefined ? {} : { older }) } };
    return connection.send(event, String(last));
  };
  try {
    for await (const piece of pieces) await send(piece);
  } catch (error) {
    // The client reconnects by itself and then gets the refusal, if there still is one.
    context.log.debug({ installationId: id, err: error }, 'a log stream ended early');
  } finally {
    connection.end();
  }
}

/** An app that is installed again has another log. */
function endWithInstallation(
  { signals, database }: CoreContext,
  app: { readonly accountKey: string; readonly appId: string; readonly id: InstallationId },
  { end, over }: EventConnection,
): void {
  const off = signals.onAbout('installation-changed', 'installationId', app.id, () => {
    selectOwn(database, app.accountKey, app.appId).then((own) => {
      if (own?.id !== app.id) end();
    }, end);
  });
  over.addEventListener('abort', off);
}
