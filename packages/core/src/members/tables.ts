// How far nodes and Ingresses have carried out what they follow.
import type { OwnedTables, OwnedViews } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    followers: { follows: 'assignments' | 'topology'; follower_id: string; revision: Bigint; at: Date };
    follower_progress: Pick<DatabaseSchema['followers'], 'follows' | 'follower_id' | 'revision' | 'at'>;
  }
}

export const tables = {
  followers: {},
} satisfies OwnedTables;

export const views = {
  follower_progress: 'Which revision a node or an Ingress has carried out, and when core last heard of it.',
} satisfies OwnedViews;
