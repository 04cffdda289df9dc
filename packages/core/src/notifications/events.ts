// Opens live streams: of the account for the shell, of notifications for apps.
import { isDeepStrictEqual } from 'node:util';
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { AccountStream, type StreamStart } from '../events/account-stream.ts';
import { EventConnection } from '../events/event-connection.ts';
import { lastEventId, openStream, type StreamCall } from '../events/open-stream.ts';
import type { HandlersOf, RouteCall } from '../http/handlers.ts';
import { newestSequence } from './queries.ts';
import { type NotificationReader, visibilityOf } from './routes.ts';

type Call = StreamCall<NotificationReader> & Pick<RouteCall<'events.stream'>, 'request'>;

export type EventRoute = 'events.stream' | 'services.notifications.stream';

export function eventRoutes(context: CoreContext): HandlersOf<EventRoute> {
  async function open(call: Call): Promise<{ readonly streamed: true }> {
    const { caller, request, reply } = call;
    const visibility = visibilityOf(caller);
    const connection = new EventConnection(reply.raw);
    const emissions = context.streams.emissionsFor(caller);
    const stream = new AccountStream({ context, caller, emissions, connection });
    return openStream(context, call, {
      connection,
      listener: stream,
      async begin(now) {
        // It may have been granted other topics.
        if (!isDeepStrictEqual(visibilityOf(now), visibility))
          throw refuse('unavailable', undefined, { retryAfter: 1 });
        const start = await startOf(context, caller.accountKey, lastEventId(request, 18));
        return { id: start.position, send: () => stream.start(start) };
      },
    });
  }

  return { 'events.stream': open, 'services.notifications.stream': open };
}

async function startOf({ database }: CoreContext, accountKey: string, lastId: string | null): Promise<StreamStart> {
  const newest = await newestSequence(database, accountKey);
  if (lastId === null) return { position: newest, resumed: false };
  // Never ahead of what there is: a client that knows more than the database would wait for ever.
  const position = BigInt(lastId) < BigInt(newest) ? String(BigInt(lastId)) : newest;
  return { position, resumed: true };
}
