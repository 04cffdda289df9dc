// Which routes links serve: to known nodes those of nodes and of the Gateways that run there, to all others joining
// only. Pages, accounts and session routes are never served over a link.
import { type Refusal, type RouteId, type RouteSpec, refuse, routes } from '@platform/contract';
import type { LinkPeer } from '@platform/link';
import type { Caller } from './caller.ts';
import { pathMatches } from './path-matches.ts';

const JOIN: RouteId = 'node.join';
/** How a node gets its credential, for which it has none to show yet. */
const WITHOUT_CREDENTIAL: readonly string[] = [JOIN, 'node.challenge', 'node.credential'] satisfies readonly RouteId[];
const CALLERS: readonly string[] = ['node', 'installation'] satisfies readonly Caller['kind'][];

const served = (Object.entries(routes) as [RouteId, RouteSpec][])
  .filter(([id, { callers }]) => WITHOUT_CREDENTIAL.includes(id) || callers.some((kind) => CALLERS.includes(kind)))
  .map(([, { path }]) => path);

/** Why a request to this path is not served to this peer; `null` where it is. */
export function refusalOverLink(peer: LinkPeer, path: string): Refusal | null {
  // A removed node learns here that it is one no more, which is why strangers get an answer at all.
  if (!peer.known && path !== routes[JOIN].path)
    return { code: 'unauthenticated', detail: 'The key of this connection is not one of a node of this platform.' };
  return served.some((pattern) => pathMatches(pattern, path)) ? null : { code: 'not_found' };
}

/**
 * @throws RefusalError for a caller that has no business on a link, and for a node, or a backend on it, on the connection
 *   of another node: what was stolen from one is worth nothing without its key
 */
export function checkCallerOverLink(peer: LinkPeer, caller: Caller): void {
  if (caller.kind === 'node' && caller.publicKey?.equals(peer.key) !== true)
    throw refuse('unauthenticated', 'This credential belongs to another node than the key of this connection.');
  if (caller.kind === 'installation' && caller.nodeKey?.equals(peer.key) !== true)
    throw refuse('unauthenticated', 'This credential is of a backend on another node than the key of this connection.');
  if (caller.kind !== 'anonymous' && !CALLERS.includes(caller.kind))
    throw refuse('not_authorized', 'This credential is not for this connection.');
}
