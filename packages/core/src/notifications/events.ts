// Opens live streams: of the account for the shell, of notifications for apps.
import { isDeepStrictEqual } from 'node:util';
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { beginEventStream, type StreamTiming, usualTiming } from '../http/event-connection.ts';
import type { HandlersOf, RouteCall } from '../http/handlers.ts';
import type { StreamCaller } from './event-hub.ts';
import { EventStream, type StreamStart } from './event-stream.ts';
import { newestSequence } from './queries.ts';
import { visibilityOf } from './routes.ts';

interface StreamCall extends Pick<RouteCall<'events.stream'>, 'request' | 'reply'> {
  readonly caller: StreamCaller;
  readonly stillAllowed: () => Promise<StreamCaller>;
}

export type EventRoute = 'events.stream' | 'services.notifications.stream';

export function eventRoutes(context: CoreContext, timing: StreamTiming = usualTiming): HandlersOf<EventRoute> {
  async function open({ caller, request, reply, stillAllowed }: StreamCall): Promise<{ readonly streamed: true }> {
    const visibility = visibilityOf(caller);
    const stream = new EventStream(context, caller, visibility, reply.raw);
    // What ends the caller from here on ends the stream.
    const place = context.hub.join(stream);
    reply.raw.once('close', place.leave);
    try {
      // It may have ended, or been granted other topics, while the request waited for its rate.
      if (!isDeepStrictEqual(visibilityOf(await stillAllowed()), visibility))
        throw refuse('unavailable', undefined, { retryAfter: 1 });
      const start = await startOf(context, caller.accountKey, request.headers['last-event-id']);
      if (stream.ended || context.stopping.aborted) throw refuse('unavailable', undefined, { retryAfter: 2 });
      beginEventStream(reply);
      stream.start(start, timing);
    } catch (error) {
      place.leave();
      throw error;
    }
    return { streamed: true };
  }

  return { 'events.stream': open, 'services.notifications.stream': open };
}

/** @throws RefusalError `invalid_request` for a Last-Event-ID that was never sent */
async function startOf(
  { database }: CoreContext,
  accountKey: string,
  lastEventId: string | string[] | undefined,
): Promise<StreamStart> {
  const newest = await newestSequence(database, accountKey);
  if (lastEventId === undefined || lastEventId === '') return { position: newest, resumed: false };
  if (typeof lastEventId !== 'string' || !/^\d{1,18}$/.test(lastEventId))
    throw refuse('invalid_request', 'Last-Event-ID is not the id of an event of this stream.');
  // Never ahead of what there is: a client that knows more than the database would wait for ever.
  const position = BigInt(lastEventId) < BigInt(newest) ? String(BigInt(lastEventId)) : newest;
  return { position, resumed: true };
}
