// All SQL that reads the topology, in pieces of a bounded size: by the number of names and by what their routes take, which
// is up to their owners.
import { limits } from '@platform/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { BEHIND_NAT } from './behind-nat.ts';

type Executor = Kysely<DatabaseSchema>;

export interface RouteRow {
  readonly label: string;
  readonly app_id: string;
  readonly installation_id: string;
  readonly node_id: string | null;
  /** `null` of a name that is gone. */
  readonly routes: string[] | null;
  readonly revision: string;
}

export interface AddressRow {
  readonly node_id: string;
  readonly name: string;
  /** `null` of a node that is gone. */
  readonly url: string | null;
  /** Base64. */
  readonly key: string | null;
  /** Sealed, base64. */
  readonly credential: string | null;
  /** Of `BEHIND_NAT`. */
  readonly behind_nat: string | null;
}

export interface TopologyState {
  readonly revision: string;
  /** Deletions up to this revision are forgotten. */
  readonly floor: string;
}

export async function readState(db: Executor): Promise<TopologyState> {
  const { rows } = await sql<TopologyState>`
    SELECT revision::text AS revision, floor::text AS floor FROM topology_state`.execute(db);
  return stateOf(rows[0]);
}

function stateOf<State extends TopologyState>(row: State | undefined): State {
  if (row === undefined) throw new Error('the revision of the topology is missing from the database');
  return row;
}

/** Of the routes of one piece together, in characters; one name has at most a tenth of it. */
const MOST_CHARACTERS = 2 ** 21;

/** The sum of the routes up to each row, in an order. */
const sizeUntil = (order: RawBuilder<unknown>) =>
  sql`sum(coalesce(length(array_to_string(routes, '')), 0)) OVER (ORDER BY ${order})`;

export interface Piece {
  readonly routes: RouteRow[];
  /** Nothing comes after it. */
  readonly isLast: boolean;
}

/** Names with all that there are of them: as many as one piece holds. */
function pieceOf({ found, routes }: { readonly found: number; readonly routes: RouteRow[] }): Piece {
  return { routes, isLast: routes.length === found && found < limits.topologyItems.value };
}

/** A piece of all names there are, by label, after the given one. */
export async function readNames(db: Executor, after: string): Promise<Piece> {
  const { rows } = await sql<RouteRow & { readonly found: number }>`
    WITH next AS (
      SELECT label, app_id, installation_id, node_id, routes, revision FROM topology_routes
       WHERE routes IS NOT NULL AND label > ${after}
       ORDER BY label LIMIT ${limits.topologyItems.value})
    SELECT label, app_id, installation_id, node_id, routes, revision::text AS revision,
           (SELECT count(*) FROM next)::integer AS found
      FROM (SELECT *, ${sizeUntil(sql`label`)} AS size FROM next) AS sized
     WHERE size <= ${MOST_CHARACTERS}
     ORDER BY label`.execute(db);
  return pieceOf({ found: rows[0]?.found ?? 0, routes: rows });
}

/** How far changes have been read. */
export interface Position {
  readonly revision: string;
  readonly label: string;
}

export interface ChangePiece extends TopologyState, Piece {
  /** All that changed after `nodesAfter`. */
  readonly nodes: AddressRow[];
}

/** Changes after a position, and the revision of the same moment: one statement, so that both are one snapshot. */
export async function readChanges(db: Executor, after: Position, nodesAfter: bigint): Promise<ChangePiece> {
  const { rows } = await sql<Omit<ChangePiece, 'isLast'> & { readonly found: number }>`
    WITH next AS (
      SELECT label, app_id, installation_id, node_id, routes, revision FROM topology_routes
       WHERE (revision, label) > (${after.revision}::bigint, ${after.label})
       ORDER BY revision, label LIMIT ${limits.topologyItems.value})
    SELECT s.revision::text AS revision, s.floor::text AS floor, (SELECT count(*) FROM next)::integer AS found,
           (SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.at, c.label), '[]')
              FROM (SELECT label, app_id, installation_id, node_id, routes, revision AS at, revision::text AS revision
                      FROM (SELECT *, ${sizeUntil(sql`revision, label`)} AS size FROM next) AS sized
                     WHERE size <= ${MOST_CHARACTERS}) c) AS routes,
           (SELECT coalesce(jsonb_agg(to_jsonb(c)), '[]')
              FROM (SELECT t.node_id, t.name, t.url, encode(t.key, 'base64') AS key,
                           encode(t.credential, 'base64') AS credential, ${sql.raw(BEHIND_NAT)} AS behind_nat
                      FROM topology_nodes t LEFT JOIN known_nodes n ON n.id = t.node_id
                     WHERE t.revision > ${nodesAfter}::bigint) c) AS nodes
      FROM topology_state s`.execute(db);
  const { found, ...row } = stateOf(rows[0]);
  return { ...row, ...pieceOf({ found, routes: row.routes }) };
}
