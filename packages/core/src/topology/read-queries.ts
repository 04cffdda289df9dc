// All SQL that reads the topology, in pieces of a bounded size.
import { limits } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

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

/** A piece of all names there are, by label, after the given one. */
export async function readNames(db: Executor, after: string): Promise<RouteRow[]> {
  const { rows } = await sql<RouteRow>`
    SELECT label, app_id, installation_id, node_id, routes, revision::text AS revision FROM topology_routes
     WHERE routes IS NOT NULL AND label > ${after}
     ORDER BY label LIMIT ${limits.topologyItems.value}`.execute(db);
  return rows;
}

/** How far changes have been read. */
export interface Position {
  readonly revision: string;
  readonly label: string;
}

export interface ChangePiece extends TopologyState {
  /** In the order of their revisions; all there are, if fewer than `limits.topologyItems`. */
  readonly routes: RouteRow[];
  /** All that changed after `nodesAfter`. */
  readonly nodes: AddressRow[];
}

/** Changes after a position, and the revision of the same moment: one statement, so that both are one snapshot. */
export async function readChanges(db: Executor, after: Position, nodesAfter: string): Promise<ChangePiece> {
  const { rows } = await sql<ChangePiece>`
    SELECT s.revision::text AS revision, s.floor::text AS floor,
           (SELECT coalesce(jsonb_agg(to_jsonb(c)), '[]')
              FROM (SELECT label, app_id, installation_id, node_id, routes, revision::text AS revision
                      FROM topology_routes
                     WHERE (revision, label) > (${after.revision}::bigint, ${after.label})
                     ORDER BY topology_routes.revision, label LIMIT ${limits.topologyItems.value}) c) AS routes,
           (SELECT coalesce(jsonb_agg(to_jsonb(c)), '[]')
              FROM (SELECT node_id, name, url, encode(key, 'base64') AS key,
                           encode(credential, 'base64') AS credential
                      FROM topology_nodes WHERE revision > ${nodesAfter}::bigint) c) AS nodes
      FROM topology_state s`.execute(db);
  return stateOf(rows[0]);
}
