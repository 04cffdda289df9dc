// What the grants of an installation open today, in numbers. Each domain counts for the permissions that it asks for
// (`Domain.opens`), and nothing else does: a permission of which nothing can be counted has no part.
import { limits, type Opened, type OpenedThing, type PermissionId } from '@platform/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Executor } from './database/schema.ts';

/** A grant whose reach is counted. */
export interface Counted {
  readonly accountKey: string;
  readonly installationId: string;
  readonly appId: string;
  /** Of the permission. */
  readonly resources: readonly string[];
}

export type OpensPart = Readonly<Partial<Record<PermissionId, (grant: Counted) => Promise<readonly Opened[]>>>>;

export class Opens {
  #parts: OpensPart = {};

  /** Called once, when the domains are there. */
  follow(domains: readonly { readonly opens?: OpensPart }[]): void {
    const parts = domains.map(({ opens = {} }) => opens);
    const ids = parts.flatMap((part) => Object.keys(part));
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    if (twice !== undefined) throw new Error(`two domains count what ${twice} opens`);
    this.#parts = Object.assign({}, ...parts);
  }

  /** @returns `null` for a permission of which nothing can be counted */
  async of(id: PermissionId, grant: Counted): Promise<readonly Opened[] | null> {
    return (await this.#parts[id]?.(grant)) ?? null;
  }
}

export function openedOf(what: OpenedThing, count: number): Opened {
  const most = limits.openedCount.value;
  return { what, count: Math.min(count, most), more: count > most };
}

/** Stops counting at the limit, so that much costs no more than that. @param rows selects one row for each thing */
export async function countOpened(db: Executor, what: OpenedThing, rows: RawBuilder<unknown>): Promise<Opened> {
  const counted = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (${rows} LIMIT ${limits.openedCount.value + 1}) AS thing`.execute(db);
  return openedOf(what, counted.rows[0]?.count ?? 0);
}
