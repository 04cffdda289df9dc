// The tiles of the home screen.
import type { OwnedTables } from '../database/schema.ts';

declare module '../database/schema.ts' {
  interface DatabaseSchema {
    home_tiles: { account_key: string; tile_order: string[]; pinned: string[] };
  }
}

export const tables = { home_tiles: {} } satisfies OwnedTables;
