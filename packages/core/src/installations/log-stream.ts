// The log of a backend as a live stream to its owner. The node gives a piece when the reader has taken the last one, so
// a flood waits on the node's disk and nowhere else.
import { type InstallationId, type LogEvent, type NodeLogPiece, refuse } from '@platform/contract';
import type { AuthorCaller, SessionCaller } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { beginEventStream, EventConnection, type StreamTiming, usualTiming } from '../http/event-connection.ts';
import type { RouteCall } from '../http/handlers.ts';
import type { Listener } from '../notifications/face.ts';
import { logList, withWorkload } from './lifecycle.ts';
import { selectOwn } from './queries.ts';

export interface LogStreamParts {
  readonly context: CoreContext;
  /** Default: that of all live streams. */
  readonly timing?: StreamTiming;
}

type Call = Pick<RouteCall<'apps.logs.stream'>, 'caller' | 'params' | 'query' | 'request' | 'reply' | 'stillAllowed'>;

/**
 * Opens the stream and answers when its head is written. It ends with the session, the installation or its node.
 *
 * @throws RefusalError `not_found` for an app without a backend, `concurrency_limited` beyond `limits.eventStreams`,
 *   `workload_unavailable` when the node does not answer
 */
export async function streamLogs(parts: LogStreamParts, call: Call): Promise<{ readonly streamed: true }> {
  const { context, timing = usualTiming } = parts;
  const { caller, params, query, request, reply, stillAllowed } = call;
  const { id } = withWorkload(await selectOwn(context.database, caller.accountKey, params.appId));
  const connection = new EventConnection(reply.raw);
  // Joined before the request to the node: from here on the end of the session ends the stream.
  const place = context.hub.join(listener(context, caller, { id, appId: params.appId }, connection));
  reply.raw.once('close', place.leave);
  try {
    // It may have ended before that, while the installation was looked up.
    await stillAllowed();
    const after = positionOf(request.headers['last-event-id']);
    const start = after === undefined ? { newest: query.newest } : { after };
    const pieces = await context.nodes.followLogs(id, start, connection.over);
    if (connection.ended || context.stopping.aborted) throw refuse('unavailable', undefined, { retryAfter: 2 });
    beginEventStream(reply);
    const leftMilliseconds = caller.expiresAt.getTime() - context.clock().getTime();
    connection.open(timing, { id: null, leftMilliseconds });
    void pass({ context, connection, id }, pieces);
  } catch (error) {
    connection.end();
    place.leave();
    throw error;
  }
  return { streamed: true };
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

/** A log stream's listener in the event hub: only the end of its caller matters. */
function listener(
  context: CoreContext,
  caller: SessionCaller | AuthorCaller,
  app: { readonly id: InstallationId; readonly appId: string },
  { end }: EventConnection,
): Listener {
  return {
    caller,
    wake: () => undefined,
    notificationsRead: () => undefined,
    changed(what) {
      if (what !== 'apps') return;
      selectOwn(context.database, caller.accountKey, app.appId).then((own) => {
        if (own?.id !== app.id) end();
      }, end);
    },
    end,
  };
}

/** @throws RefusalError `invalid_request` for a Last-Event-ID that was never sent */
function positionOf(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  if (typeof lastEventId !== 'string' || !/^\d{1,15}$/.test(lastEventId))
    throw refuse('invalid_request', 'Last-Event-ID is not the id of an event of this stream.');
  return Number(lastEventId);
}
