// How far nodes and Ingresses have carried out what they follow.
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    followers: { follows: 'assignments' | 'topology'; follower_id: string; revision: Bigint; at: Date };
  }
}

export const tables = {
  followers: { readBy: { ingress: 'which revision of the topology an Ingress has, for the operator' } },
} satisfies OwnedTables;
