// The lines that bring an Ingress from one revision of the topology to the present one: changes, or a snapshot where it
// knows nothing, or nothing that can be continued. Each piece is one statement, so that a slow reader holds neither a
// connection to the database nor a transaction.
import type { TopologyLine, TopologyNode, TopologyRoute } from '@platform/contract';
import { endpointHostname, publicHostname } from '../config/config.ts';
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
  let since = { routes: after ?? 0n, nodes: after ?? 0n };
  let piece = after === null ? null : await readChanges(database, startOf(since), since.nodes);
  // A revision of the future is one of another database, such as a restored one.
  if (after === null || piece === null || after < BigInt(piece.floor) || after > BigInt(piece.revision)) {
    yield { kind: 'snapshot' };
    const { revision } = await readState(database);
    yield* names(context);
    // What changed while the names were read comes after them, once more.
    since = { routes: BigInt(revision), nodes: 0n };
    piece = null;
  }
  for (let position = startOf(since); ; ) {
    piece ??= await readChanges(database, position, since.nodes);
    const { routes, isLast, nodes, revision, floor } = piece;
    // Deletions of this reader's time were forgotten meanwhile; its next connection begins anew.
    if (BigInt(floor) > since.routes) throw new Error('the topology was read too slowly to be continued');
    if (routes.length > 0) yield routesLine(context, routes);
    if (isLast) {
      if (nodes.length > 0) yield nodesLine(context, nodes, besideNode);
      yield { kind: 'current', revision };
      return;
    }
    position = routes.at(-1) ?? position;
    piece = null;
  }
}

/** Right after a revision. */
function startOf({ routes }: { readonly routes: bigint }): Position {
  return { revision: String(routes + 1n), label: '' };
}

/** All names there are. The database prepares one piece while the reader takes the one before. */
async function* names(context: Context): AsyncGenerator<TopologyLine, void, undefined> {
  const read = (after: string) => {
    const piece = readNames(context.database, after);
    // A reader that leaves in between does not wait for it.
    piece.catch(() => undefined);
    return piece;
  };
  for (let next = read(''); ; ) {
    const { routes, isLast } = await next;
    if (!isLast) next = read(routes.at(-1)?.label ?? '');
    if (routes.length > 0) yield routesLine(context, routes);
    if (isLast) return;
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
  const { node_id: nodeId, name, url, key, credential, behind_nat: behindNat } = row;
  if (url === null || credential === null) return null;
  if (url.startsWith('http:') && nodeId !== besideNode) return null;
  return {
    nodeId,
    name,
    url,
    key: key === null ? null : Buffer.from(key, 'base64').toString('base64url'),
    credential: openCredential(context, nodeId, Buffer.from(credential, 'base64')),
    ...(behindNat === null ? {} : { endpointHost: endpointHostname(context.config, behindNat) }),
  };
}
