// Looks at every page of the database with PostgreSQL's own means, and leaves nothing behind: their extensions are made in
// transactions that are rolled back. Pages are read from the disk, past the server's memory, where a whole copy can hide a
// damaged one; then tables and indexes are checked for what they hold.
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { withConnection } from './with-connection.ts';

export interface PageFault {
  /** Such as `table app_versions`. */
  readonly relation: string;
  /** An index can be rebuilt from its table. */
  readonly isIndex: boolean;
  readonly found: string;
}

export interface PageExamination {
  /** Whether pages have checksums, without which an altered one may look whole. */
  readonly checksums: boolean;
  /** `all`: pages on the disk, and what they hold. `rows`: each row was read, as far as this user of PostgreSQL may. */
  readonly depth: 'all' | 'rows';
  readonly relations: number;
  readonly faults: readonly PageFault[];
}

interface Relation {
  readonly oid: number;
  readonly name: string;
  readonly kind: 'r' | 'm' | 't' | 'S' | 'i';
  readonly method: string | null;
  readonly file: string | null;
  readonly pages: number;
  /** As of the last time that PostgreSQL counted, which it does whenever it shortens a file. */
  readonly counted: number;
}

/** As long a transaction holds back the vacuum of all tables. */
const TRANSACTION_MILLISECONDS = 10_000;
const PAGE_BYTES = 8_192;
/** Pages of one file of a relation: 1 GiB. */
const SEGMENT_PAGES = 131_072;
/** A page that is being written may be read half: it is damaged when it stays so. */
const TRIES = 4;
const TRY_MILLISECONDS = 250;
const MOST_OF_ONE = 5;

/** @param progress gets the count of relations that are done, and of all */
export function examinePages(
  url: string,
  progress: (done: number, all: number) => void = () => undefined,
): Promise<PageExamination> {
  return withConnection({ connectionString: url, application_name: 'platform-command' }, async (client) => {
    const { rows } = await client.query<{ data_checksums: string }>('SHOW data_checksums');
    const checksums = rows[0]?.data_checksums === 'on';
    const depth = (await offersTools(client)) ? 'all' : 'rows';
    const relations = await listRelations(client);
    const faults: PageFault[] = [];
    let began = Number.NEGATIVE_INFINITY;
    for (const [done, relation] of relations.entries()) {
      progress(done, relations.length);
      if (performance.now() - began > TRANSACTION_MILLISECONDS) {
        if (done > 0) await client.query('ROLLBACK');
        await begin(client, depth);
        began = performance.now();
      }
      const found =
        depth === 'all'
          ? await examine(client, relation, checksums)
          : await failureOf(client, () => read(client, relation));
      if (found.length > 0 && (await isThere(client, relation)))
        for (const one of found)
          faults.push({
            relation: `${WORDS[relation.kind]} ${relation.name}`,
            isIndex: relation.kind === 'i',
            found: one,
          });
    }
    await client.query('ROLLBACK');
    return { checksums, depth, relations: relations.length, faults };
  });
}

const WORDS = { r: 'table', m: 'view', t: 'large values of table', S: 'sequence', i: 'index' } as const;

async function begin(client: pg.ClientBase, depth: PageExamination['depth']): Promise<void> {
  await client.query('BEGIN');
  if (depth === 'all') for (const name of TOOLS) await client.query(`CREATE EXTENSION IF NOT EXISTS ${name}`);
}

const TOOLS = ['pageinspect', 'amcheck'];

/** Only a superuser of a server that has them. */
async function offersTools(client: pg.ClientBase): Promise<boolean> {
  try {
    const { rows } = await client.query<{ super: boolean }>(
      'SELECT rolsuper AS super FROM pg_roles WHERE rolname = current_user',
    );
    if (rows[0]?.super !== true) return false;
    await begin(client, 'all');
    return true;
  } catch {
    return false;
  } finally {
    await client.query('ROLLBACK');
  }
}

async function listRelations(client: pg.ClientBase): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(
    `SELECT c.oid::int8::int AS oid,
            coalesce((SELECT o.oid FROM pg_class o WHERE o.reltoastrelid = c.oid), c.oid)::regclass::text AS name, c.relkind AS kind, am.amname AS method,
            pg_relation_filepath(c.oid) AS file, (pg_relation_size(c.oid) / ${PAGE_BYTES})::float8 AS pages, c.relpages AS counted
       FROM pg_class c LEFT JOIN pg_am am ON am.oid = c.relam LEFT JOIN pg_index i ON i.indexrelid = c.oid
      WHERE c.relkind IN ('r', 'm', 't', 'S', 'i') AND c.relpersistence <> 't' AND i.indisready IS NOT FALSE
      ORDER BY c.oid`,
  );
  return rows;
}

/** What is wrong with the relation, in words; pages that cannot be read are not looked at for what they hold. */
async function examine(client: pg.ClientBase, relation: Relation, checksums: boolean): Promise<string[]> {
  if (relation.counted > relation.pages)
    return [`${relation.pages} pages on the disk, and there were ${relation.counted}: its file was cut or is missing`];
  if (checksums) {
    const damaged = await damagedPages(client, relation);
    if (damaged.length > 0) {
      const more = damaged.length > MOST_OF_ONE ? ` and ${damaged.length - MOST_OF_ONE} more` : '';
      const pages = damaged.slice(0, MOST_OF_ONE).join(', ');
      return [`${damaged.length === 1 ? 'page' : 'pages'} ${pages}${more} on the disk: wrong checksum`];
    }
  }
  return failureOf(client, () => contentFaults(client, relation));
}

/** Numbers of the pages whose checksum is wrong on the disk. */
async function damagedPages(client: pg.ClientBase, { file, pages }: Relation): Promise<number[]> {
  if (file === null) return [];
  const damaged: number[] = [];
  for (let first = 0; first < pages; first += SEGMENT_PAGES) {
    const segment = first === 0 ? file : `${file}.${first / SEGMENT_PAGES}`;
    const all = Array.from({ length: Math.min(SEGMENT_PAGES, pages - first) }, (_, page) => page);
    let suspects = await wrongPages(client, { segment, first, pages: all });
    for (let attempt = 1; attempt < TRIES && suspects.length > 0; attempt += 1) {
      await delay(TRY_MILLISECONDS);
      suspects = await wrongPages(client, { segment, first, pages: suspects });
    }
    damaged.push(...suspects.map((page) => first + page));
  }
  return damaged;
}

/** A page that was never written is all zeros, and has no checksum. One beyond a file that was cut meanwhile is none. */
async function wrongPages(
  client: pg.ClientBase,
  { segment, first, pages }: { readonly segment: string; readonly first: number; readonly pages: readonly number[] },
): Promise<number[]> {
  const { rows } = await client.query<{ number: number }>(
    `SELECT number FROM unnest($2::int[]) AS number,
            LATERAL (SELECT pg_read_binary_file($1, number::int8 * ${PAGE_BYTES}, ${PAGE_BYTES}, true) AS page) p
      WHERE length(page) = ${PAGE_BYTES}
        AND page_checksum(page, (number + $3)::int4) <> (page_header(page)).checksum
        AND page <> decode(repeat('00', ${PAGE_BYTES}), 'hex')
      ORDER BY number`,
    [segment, pages, first],
  );
  return rows.map(({ number }) => number);
}

async function contentFaults(client: pg.ClientBase, { oid, kind, method }: Relation): Promise<string[]> {
  if (kind !== 'i') {
    const { rows } = await client.query<{ blkno: number; msg: string }>(
      `SELECT blkno::float8 AS blkno, msg FROM verify_heapam($1::oid::regclass, check_toast => true) LIMIT ${MOST_OF_ONE}`,
      [oid],
    );
    return rows.map(({ blkno, msg }) => `page ${blkno}: ${msg}`);
  }
  if (method === 'btree') await client.query('SELECT bt_index_check($1::oid::regclass)', [oid]);
  if (method === 'gin') await client.query('SELECT gin_index_check($1::oid::regclass)', [oid]);
  return [];
}

/** Reads each row with what lies beside it. Indexes are read by those who use them. */
async function read(client: pg.ClientBase, { kind, name }: Relation): Promise<string[]> {
  if (kind === 'r' || kind === 'm') await client.query(`SELECT count(one::text) FROM ONLY ${name} AS one`);
  return [];
}

/** What `work` finds, or what PostgreSQL says where it cannot go on. */
async function failureOf(client: pg.ClientBase, work: () => Promise<string[]>): Promise<string[]> {
  await client.query('SAVEPOINT one');
  try {
    return await work();
  } catch (error) {
    await client.query('ROLLBACK TO one');
    // Tables of others, in a database that this user does not own alone.
    if (error instanceof Error && 'code' in error && error.code === '42501') return [];
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await client.query('RELEASE one');
  }
}

async function isThere(client: pg.ClientBase, { oid }: Relation): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM pg_class WHERE oid = $1', [oid]);
  return rows.length > 0;
}
