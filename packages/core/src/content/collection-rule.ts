// What an app of an account may do in a collection (specification 5.4, contract 4i): what role, admission and grants allow
// together. Each of them holds for the collection itself and for all within it. Pure: what there is comes in.
import type { ContentRole, Grant } from '@platform/contract';
import { allows } from '../grants/grant-coverage.ts';

/** Each includes those before it. */
export const ACTS = ['read', 'write', 'manage'] as const;
export type Act = (typeof ACTS)[number];

/** A collection as seen by one app of one account. */
export interface Link {
  readonly id: string;
  readonly kind: string;
  /** Of the account, in this very collection. */
  readonly role: ContentRole | null;
  /** Whether this very collection was opened to the app. */
  readonly admitted: boolean;
}

export interface Standing {
  /** The collection itself, then the one that it is in, up to the outermost. */
  readonly chain: readonly Link[];
  readonly grants: readonly Grant[];
  /** Its owner's account was deleted: it can still be read. */
  readonly ending: boolean;
}

const ROLES: readonly ContentRole[] = ['viewer', 'editor', 'manager', 'owner'];

const STRONGEST_ACT: Readonly<Record<ContentRole, Act>> = {
  viewer: 'read',
  editor: 'write',
  manager: 'manage',
  owner: 'manage',
};

export interface Allowed {
  readonly role: ContentRole;
  readonly act: Act;
}

/** Whether who may do the one may do the other. */
export function includes(allowed: Act, wanted: Act): boolean {
  return ACTS.indexOf(allowed) >= ACTS.indexOf(wanted);
}

/** The strongest role in the chain. */
export function roleIn(chain: readonly Pick<Link, 'role'>[]): ContentRole | null {
  return ROLES.findLast((role) => chain.some((link) => link.role === role)) ?? null;
}

/** What the grants allow in the chain at most. */
export function grantedIn(chain: readonly Pick<Link, 'id' | 'kind'>[], grants: readonly Grant[]): Act | null {
  const covers = (act: Act): boolean =>
    chain.some(({ id, kind }) => allows(grants, `content.collections.${act}`, `${kind}:${id}`));
  return ACTS.findLast(covers) ?? null;
}

/** The strongest act that is allowed, and every weaker one with it; `null` for none, and in a chain that meets itself. */
export function allowedIn({ chain, grants, ending }: Standing): Allowed | null {
  if (chain.length === 0 || new Set(chain.map(({ id }) => id)).size < chain.length) return null;
  const role = roleIn(chain);
  const granted = grantedIn(chain, grants);
  if (role === null || granted === null || !chain.some(({ admitted }) => admitted)) return null;
  const byRole = ending ? 'read' : STRONGEST_ACT[role];
  return { role, act: includes(granted, byRole) ? byRole : granted };
}

/** Whether the move would put a collection into itself. @param above the collection that it moves into, and those above that */
export function wouldLieInItself(id: string, above: readonly { readonly id: string }[]): boolean {
  return above.some((link) => link.id === id);
}
