// The nodes domain: how machines join and report, and what happens when a node stops sending heartbeats.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { nodeOf } from '../placement/face.ts';
import { nodeCaller } from './node-caller.ts';
import { type NodeRoute, nodeRoutes } from './routes.ts';
import { NodeWatch } from './watch-nodes.ts';

export function nodeDomain(
  context: CoreContext,
  { monotonic = () => performance.now() }: { readonly monotonic?: () => number },
): Domain<NodeRoute, 'node'> {
  return {
    handlers: nodeRoutes(context),
    callers: { node: nodeCaller(context) },
    workers: [new NodeWatch(context, monotonic)],
    async installationEnded(trx, installationId) {
      if ((await nodeOf(trx, installationId)) === null) return;
      // The node stops it for want of an assignment, even if it cannot be reached now.
      trx.afterCommit(() =>
        context.nodes.forget(installationId).catch((error: unknown) => {
          context.log.warn({ installationId, err: error }, 'could not stop a removed app at once');
        }),
      );
    },
  };
}
