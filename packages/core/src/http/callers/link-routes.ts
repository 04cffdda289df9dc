// Which routes links serve: to known nodes and Ingresses those of nodes, of the Gateways that run there and of Ingresses,
// to all others joining only. Pages, accounts and session routes are never served over a link.
import { type Refusal, type RouteId, type RouteSpec, refuse, routes } from '@platform/contract';
import { type LinkPeer, linkPeer, publicKeyText } from '@platform/link';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../caller.ts';
import { pathMatches } from '../server/path-matches.ts';
import type { AnyScheme } from './scheme.ts';

const JOINS = ['node.join', 'ingress.join'] as const satisfies readonly RouteId[];
/** How a member gets its credential, for which it has none to show yet. */
const WITHOUT_CREDENTIAL: readonly string[] = [
  ...JOINS,
  'node.challenge',
  'node.credential',
  'ingress.challenge',
  'ingress.credential',
] satisfies readonly RouteId[];

/** Why a request to this path is not served to this peer; `null` where it is. */
export type RefusalOverLink = (peer: LinkPeer, path: string) => Refusal | null;

export function refusalOverLink(schemes: readonly AnyScheme[]): RefusalOverLink {
  const kinds: readonly string[] = schemes.filter(({ link }) => link !== undefined).map(({ kind }) => kind);
  const served = (Object.entries(routes) as [RouteId, RouteSpec][])
    .filter(([id, { callers }]) => WITHOUT_CREDENTIAL.includes(id) || callers.some((kind) => kinds.includes(kind)))
    .map(([, { path }]) => path);
  return (peer, path) => {
    // A removed member learns here that it is one no more, which is why strangers get an answer at all.
    if (!peer.known && !JOINS.some((id) => path === routes[id].path))
      return {
        code: 'unauthenticated',
        detail: 'The key of this connection is not one of a node or an Ingress of this platform.',
      };
    return served.some((pattern) => pathMatches(pattern, path)) ? null : { code: 'not_found' };
  };
}

/**
 * @throws RefusalError for a caller that has no business on a link, and for a node, or a backend on it, on the connection
 *   of another node: what was stolen from one is worth nothing without its key
 */
export function checkCallerOverLink(peer: LinkPeer, caller: Caller, scheme: AnyScheme | undefined): void {
  if (scheme === undefined || caller.kind === 'anonymous') return;
  if (scheme.link === undefined) throw refuse('not_authorized', 'This credential is not for this connection.');
  if (scheme.link.keyOf(caller)?.equals(peer.key) !== true) throw refuse('unauthenticated', scheme.link.otherKey);
}

/** @throws RefusalError for a machine that joins with another key than that of its connection */
export function requireOwnKey(request: FastifyRequest, publicKey: string): void {
  const peer = linkPeer(request.raw.socket);
  if (peer !== undefined && publicKeyText(peer.key) !== publicKey)
    throw refuse('unauthenticated', 'The connection was made under another key than the one that joins.');
}
