// The routes of nodes: joining, renewing credentials, registering addresses, heartbeats and reports.
import { type DomainRoute, refuse } from '@platform/contract';
import { linkPeer, publicKeyText } from '@platform/link';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { upsertPorts } from '../placement/port-queries.ts';
import { upsertStatus } from '../placement/queries.ts';
import { takeHeartbeat } from './heartbeat.ts';
import { joinNode } from './join-node.ts';
import { challengeNode, renewCredential } from './node-credentials.ts';
import { touchNode } from './node-queries.ts';
import { registerNode } from './register-node.ts';

export type NodeRoute = DomainRoute<'nodes'>;

export function nodeRoutes(context: CoreContext): HandlersOf<NodeRoute> {
  return {
    'node.join': async ({ body, request }) => {
      const peer = linkPeer(request.raw.socket);
      if (peer !== undefined && publicKeyText(peer.key) !== body.publicKey)
        throw refuse('unauthenticated', 'The connection was made under another key than the one that joins.');
      return { status: 201, body: await joinNode(context, body) };
    },
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
