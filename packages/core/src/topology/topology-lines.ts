// The lines that bring an Ingress from one revision of the topology to the present one: changes, or a snapshot where it
// knows nothing, or nothing that can be continued. Each piece is one statement, so that a slow reader holds neither a
// connection to the database nor a transaction.
import type { TopologyLine, TopologyNode, TopologyRoute } from '@platform/contract';
import { publicHostname } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { openCredential } from './node-addresses.ts';
import { type AddressRow, type Position, type RouteRow, readChanges, readNames, readState } from './read-queries.ts';

type Context = Pick<CoreContext, 'config' | 'database' | 'masterKey'>;

export interface TopologyReader {
  /** The revision that is in effect at the Ingress; `null` for none. */
  readonly after: bigint | null;
  /** The node whose loopback addresses mean something to it. */
  readonly besideNode: string | null;
}

/** Everything up to the present revision. Ends with a `current` line. */
export async function* linesAfter(
  context: Context,
  { after, besideNode }: TopologyReader,
): AsyncGenerator<TopologyLine, void, undefined> {
  const { database } = context;
  const state = await readState(database);
  // A revision of the future is one of another database, such as a restored one.
  const continues = after !== null && after >= BigInt(state.floor) && after <= BigInt(state.revision);
  let since = after ?? 0n;
  let nodesAfter = since;
  if (!continues) {
    yield { kind: 'snapshot' };
    for (let label = ''; ; ) {
      const { routes, isLast } = await readNames(database, label);
      if (routes.length > 0) yield routesLine(context, routes);
      if (isLast) break;
      label = routes.at(-1)?.label ?? label;
    }
    // What changed while the names were read comes after them, once more.
    since = BigInt(state.revision);
    nodesAfter = 0n;
  }
  let position: Position = { revision: String(since + 1n), label: '' };
  for (;;) {
    const { routes, isLast, nodes, revision, floor } = await readChanges(database, position, String(nodesAfter));
    // Deletions of this reader's time were forgotten meanwhile; its next connection begins anew.
    if (BigInt(floor) > since) throw new Error('the topology was read too slowly to be continued');
    if (routes.length > 0) yield routesLine(context, routes);
    position = routes.at(-1) ?? position;
    if (!isLast) continue;
    if (nodes.length > 0) yield nodesLine(context, nodes, besideNode);
    yield { kind: 'current', revision };
    return;
  }
}

function routesLine({ config }: Context, rows: readonly RouteRow[]): TopologyLine {
  const items: TopologyRoute[] = [];
  const gone: string[] = [];
  for (const row of rows) {
    const hostname = publicHostname(config, row.app_id, row.label);
    if (row.routes === null) gone.push(hostname);
    else
      items.push({
        hostname,
        installationId: row.installation_id as TopologyRoute['installationId'],
        nodeId: row.node_id,
        routes: row.routes,
      });
  }
  return { kind: 'routes', items, gone };
}

function nodesLine(context: Context, rows: readonly AddressRow[], besideNode: string | null): TopologyLine {
  const items: TopologyNode[] = [];
  const gone: string[] = [];
  for (const row of rows) {
    const node = nodeOf(context, row, besideNode);
    if (node === null) gone.push(row.node_id);
    else items.push(node);
  }
  return { kind: 'nodes', items, gone };
}

/** `null` for a node that is gone, or that this Ingress cannot reach: loopback is another machine to every other. */
function nodeOf(context: Context, row: AddressRow, besideNode: string | null): TopologyNode | null {
  const { node_id: nodeId, name, url, key, credential } = row;
  if (url === null || credential === null) return null;
  if (url.startsWith('http:') && nodeId !== besideNode) return null;
  return {
    nodeId,
    name,
    url,
    key: key === null ? null : Buffer.from(key, 'base64').toString('base64url'),
    credential: openCredential(context, nodeId, Buffer.from(credential, 'base64')),
  };
}
