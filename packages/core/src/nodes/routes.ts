// The routes of nodes: joining, renewing credentials, registering addresses, heartbeats and reports.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { requireOwnKey } from '../http/callers/link-routes.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { challengeMember } from '../members/member-credentials.ts';
import { upsertPorts, upsertStatus } from '../placement/face.ts';
import { takeHeartbeat } from './heartbeat.ts';
import { joinNode, renewNode } from './join-node.ts';
import { leaveNode } from './lose-node.ts';
import { nodeMembers } from './node-member.ts';
import { touchNode } from './node-queries.ts';
import { registerNode } from './register-node.ts';

export type NodeRoute = DomainRoute<'nodes'>;

export function nodeRoutes(context: CoreContext): HandlersOf<NodeRoute> {
  return {
    'node.join': async ({ body, request }) => {
      requireOwnKey(request, body.publicKey);
      return { status: 201, body: await joinNode(context, body) };
    },
    'node.challenge': async ({ body }) => ({
      status: 200,
      body: { nonce: await challengeMember(context, nodeMembers(context), body.publicKey) },
    }),
    'node.credential': async ({ body }) => ({ status: 200, body: await renewNode(context, body) }),
    'node.heartbeat': async ({ caller, body }) => ({
      status: 200,
      body: await takeHeartbeat(context, caller.nodeId, body ?? {}),
    }),
    'node.leave': async ({ caller }) => {
      await leaveNode(context, caller.nodeId);
      return { status: 204 };
    },
    'node.register': async ({ caller, body }) => {
      await registerNode(context, caller.nodeId, body);
      return { status: 204 };
    },
    'node.status': async ({ caller, body }) => {
      // Of two reports about one installation the later one counts.
      const latest = new Map(body.items.map((item) => [item.installationId, item]));
      const items = [...latest.values()];
      if (items.length > 0) await upsertStatus(context.database, caller.nodeId, items);
      await upsertPorts(context.database, caller.nodeId, items);
      await touchNode(context.database, caller.nodeId, context.clock());
      return { status: 204 };
    },
  };
}
