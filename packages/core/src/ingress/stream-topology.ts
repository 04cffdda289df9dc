// The topology as a live stream to one Ingress: what it lacks, and then every change as it happens.
import { refuse, TOPOLOGY_STREAM } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { Wake } from '../events/wake.ts';
import type { RouteCall } from '../http/handlers.ts';
import { linesAfter } from '../topology/face.ts';
import { besideNode } from './ingress-queries.ts';
import { keepLink } from './keep-link.ts';
import { LineStream } from './line-stream.ts';

export interface TopologyStreamParts {
  readonly context: CoreContext;
  readonly beatMilliseconds: number;
  /** The streams that are open here. */
  readonly open: Set<object>;
}

type Call = Pick<RouteCall<'ingress.topology'>, 'caller' | 'query' | 'reply' | 'stillAllowed'>;

/**
 * Opens the stream and answers when its head is written. It ends with the credential: when that expires, is replaced, or
 * the Ingress is removed.
 */
export async function streamTopology(parts: TopologyStreamParts, call: Call): Promise<{ readonly streamed: true }> {
  const { context, beatMilliseconds, open } = parts;
  const { caller, query, reply, stillAllowed } = call;
  const { ingressId } = caller;
  let end: () => void = () => undefined;
  let ended = false;
  // From here on, the end of the credential ends the stream.
  const off = context.callers.onEnd(caller, () => {
    ended = true;
    end();
  });
  reply.raw.once('close', off);
  try {
    // It may have ended before that.
    await stillAllowed();
    await keepLink(context, ingressId, query.link);
    const nodeId = await besideNode(context.database, ingressId);
    // It is waited for from its first moment.
    await context.followers.confirm('topology', ingressId, query.after ?? '0');
    if (ended || context.stopping.aborted) throw refuse('unavailable', undefined, { retryAfter: 2 });
    const stream = new LineStream(reply, TOPOLOGY_STREAM, {
      beatMilliseconds,
      leftMilliseconds: caller.expiresAt.getTime() - context.clock().getTime(),
      beaten: () => void context.followers.seen('topology', ingressId).catch(logged(context, ingressId)),
    });
    end = stream.end;
    open.add(stream);
    stream.over.addEventListener('abort', () => open.delete(stream));
    if (stream.over.aborted) open.delete(stream);
    const after = query.after === undefined ? null : BigInt(query.after);
    void pass({ context, stream, ingressId }, { after, besideNode: nodeId });
  } catch (error) {
    off();
    throw error;
  }
  return { streamed: true };
}

interface Passage {
  readonly context: CoreContext;
  readonly stream: LineStream;
  readonly ingressId: string;
}

async function pass(
  { context, stream, ingressId }: Passage,
  start: { readonly after: bigint | null; readonly besideNode: string | null },
): Promise<void> {
  const { signals, stopping } = context;
  const { over } = stream;
  const wake = new Wake();
  const offs = [signals.on('topology-changed', wake.wake), signals.onReset(wake.wake)];
  const stop = () => {
    stream.end();
    wake.wake();
  };
  stopping.addEventListener('abort', stop);
  over.addEventListener('abort', stop);
  if (stopping.aborted) stop();
  let { after } = start;
  try {
    for (; !over.aborted; await wake.next()) {
      for await (const line of linesAfter(context, { ...start, after })) {
        await stream.write(line);
        if (over.aborted) return;
        if (line.kind === 'current') after = BigInt(line.revision);
      }
    }
  } catch (error) {
    // The Ingress comes back by itself.
    logged(context, ingressId)(error);
  } finally {
    for (const off of offs) off();
    stopping.removeEventListener('abort', stop);
    stream.end();
  }
}

function logged({ log }: CoreContext, ingressId: string): (error: unknown) => void {
  return (error) => log.warn({ ingressId, err: error }, 'the topology stream of an Ingress ended early');
}
