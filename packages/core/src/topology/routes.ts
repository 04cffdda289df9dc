// The routes by which a machine becomes a node and stays one, and by which its Runtime learns what to run, fetches it,
// and reports what it sees.
import { refuse } from '@platform/contract';
import { packageFile } from '../catalog/package-file.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { awaitAssignments } from './assignments.ts';
import type { Followers } from './followers.ts';
import { takeHeartbeat } from './heartbeat.ts';
import { joinNode } from './join-node.ts';
import { challengeNode, renewCredential } from './node-credentials.ts';
import { isPackagePlaced, touchNode, upsertStatus } from './queries.ts';
import { registerNode } from './register-node.ts';
import { sendPackage } from './send-package.ts';
import { startWorkload } from './start-workload.ts';

type NodeRoute =
  | 'node.join'
  | 'node.challenge'
  | 'node.credential'
  | 'node.heartbeat'
  | 'node.register'
  | 'node.assignments'
  | 'node.starts'
  | 'node.status'
  | 'node.package';

export function nodeRoutes(context: CoreContext, followers: Followers): HandlersOf<NodeRoute> {
  return {
    'node.join': async ({ body }) => ({ status: 201, body: await joinNode(context, body) }),
    'node.challenge': async ({ body }) => ({
      status: 200,
      body: { nonce: await challengeNode(context, body.publicKey) },
    }),
    'node.credential': async ({ body }) => ({ status: 200, body: await renewCredential(context, body) }),
    'node.heartbeat': async ({ caller, body }) => ({
      status: 200,
      body: await takeHeartbeat(context, caller.nodeId, body ?? {}),
    }),
    'node.register': async ({ caller, body }) => {
      await registerNode(context, caller.nodeId, body);
      return { status: 204 };
    },
    'node.assignments': async ({ caller, query, reply }) => {
      await followers.heard(caller.nodeId, query.after);
      const closed = new AbortController();
      reply.raw.once('close', () => closed.abort());
      return { status: 200, body: await awaitAssignments(context, caller.nodeId, query.after, closed.signal) };
    },
    'node.starts': async ({ caller, params }) => ({
      status: 200,
      body: await startWorkload(context, caller.nodeId, params.id),
    }),
    'node.status': async ({ caller, body }) => {
      // Of two reports about one installation the later one counts.
      const latest = new Map(body.items.map((item) => [item.installationId, item]));
      if (latest.size > 0) await upsertStatus(context.database, caller.nodeId, [...latest.values()]);
      await touchNode(context.database, caller.nodeId, context.clock());
      return { status: 204 };
    },
    'node.package': async ({ caller, params, reply }) => {
      if (!(await isPackagePlaced(context.database, caller.nodeId, params.hash))) throw refuse('not_found');
      await sendPackage(packageFile(context, params.hash), reply);
      return { streamed: true };
    },
  };
}
