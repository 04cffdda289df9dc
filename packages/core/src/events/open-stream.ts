// Opens live streams: in the right order, so that what ends their caller meanwhile ends them too.
import { refuse } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CoreContext } from '../context.ts';
import type { AccountCaller } from '../http/caller.ts';
import { beginEventStream, type EventConnection, usualTiming } from './event-connection.ts';
import type { Listener } from './live-streams.ts';

export interface StreamCall<Caller extends AccountCaller> {
  readonly caller: Caller;
  readonly reply: FastifyReply;
  readonly stillAllowed: () => Promise<Caller>;
}

export interface Begun {
  /** Where the reader is before the first event; `null` where events have no order. */
  readonly id: string | null;
  /** Called once the head is written; sends until the connection ends. */
  send(): void;
}

export interface StreamOpening<Caller extends AccountCaller> {
  readonly connection: EventConnection;
  /** Default: one that only ends. */
  readonly listener?: Listener;
  /** @param caller as it is now: what it may do can have changed since the request began */
  begin(caller: Caller): Promise<Begun>;
}

/**
 * Opens a stream and answers when its head is written. It ends with its caller, its life, its connection or core, and
 * the connection has ended when it is refused.
 *
 * @throws RefusalError as `LiveStreams.join` and `begin`; `unavailable` when it ended before it began
 */
export async function openStream<Caller extends AccountCaller>(
  context: Pick<CoreContext, 'streams' | 'stopping' | 'clock'>,
  { caller, reply, stillAllowed }: StreamCall<Caller>,
  { connection, listener = { caller, end: connection.end }, begin }: StreamOpening<Caller>,
): Promise<{ readonly streamed: true }> {
  let leave: () => void = () => undefined;
  try {
    // What ends the caller from here on ends the stream.
    leave = context.streams.join(listener).leave;
    reply.raw.once('close', leave);
    // It may have ended before that, while the request waited for its rate.
    const begun = await begin(await stillAllowed());
    if (connection.ended || context.stopping.aborted) throw refuse('unavailable', undefined, { retryAfter: 2 });
    beginEventStream(reply);
    const left = 'expiresAt' in caller ? caller.expiresAt.getTime() - context.clock().getTime() : null;
    connection.open(usualTiming, { id: begun.id, leftMilliseconds: left });
    begun.send();
  } catch (error) {
    connection.end();
    leave();
    throw error;
  }
  return { streamed: true };
}

/**
 * What a client that comes back gives as `Last-Event-ID`; `null` for a new one.
 *
 * @throws RefusalError `invalid_request` for what cannot be the id of an event: at most `digits` decimal digits
 */
export function lastEventId({ headers }: FastifyRequest, digits: number): string | null {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return null;
  if (typeof id !== 'string' || id.length > digits || !/^\d+$/.test(id))
    throw refuse('invalid_request', 'Last-Event-ID is not the id of an event of this stream.');
  return id;
}
