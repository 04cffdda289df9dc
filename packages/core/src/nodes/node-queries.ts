// All SQL of a node's identity: its key, its credential, its heartbeat, its joining, and its addresses.

import { type InstallationId, type NodeMachine, refuse } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { unreviewedBackendText } from '../grants/granted-backend.ts';
import type { IssuedCredential } from '../members/member-credentials.ts';

type Executor = Kysely<DatabaseSchema>;

interface NodeOfCredential {
  readonly id: string;
  readonly public_key: Buffer | null;
  readonly credential_expires_at: Date;
}

const FIND_NODE = {
  name: 'find-node',
  text: 'SELECT id, public_key, credential_expires_at FROM nodes WHERE credential_hash = $1',
};

/** The node with this credential, even an expired one; `undefined` when it is unknown. */
export async function findNodeByCredential(pool: pg.Pool, tokenHash: Buffer): Promise<NodeOfCredential | undefined> {
  const { rows } = await pool.query<NodeOfCredential>({ ...FIND_NODE, values: [tokenHash] });
  return rows[0];
}

/** Id of the node with this public key; `undefined` when it is unknown. */
export async function findNodeByKey(db: Executor, publicKey: Buffer): Promise<string | undefined> {
  const row = await db.selectFrom('nodes').select('id').where('public_key', '=', publicKey).executeTakeFirst();
  return row?.id;
}

/** Replaces the credential of a node; the former one is invalid from then on. */
export async function setCredential(
  db: Executor,
  nodeId: string,
  { hash, expiresAt }: IssuedCredential,
): Promise<void> {
  await db
    .updateTable('nodes')
    .set({ credential_hash: hash, credential_expires_at: expiresAt })
    .where('id', '=', nodeId)
    .execute();
}

export interface NewNode {
  readonly id: string;
  readonly name: string;
  readonly publicKey: Buffer;
  readonly labels: readonly string[];
  readonly local: boolean;
  readonly leased: boolean;
  readonly credential: IssuedCredential;
  readonly now: Date;
}

/** Inserts a node. Returns whether it was inserted; not when another node has the name. */
export async function insertNode(db: Executor, node: NewNode): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('nodes')
    .values({
      id: node.id,
      name: node.name,
      public_key: node.publicKey,
      labels: [...node.labels],
      local: node.local,
      leased: node.leased,
      credential_hash: node.credential.hash,
      credential_expires_at: node.credential.expiresAt,
      joined_at: node.now,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Assigns this key to the one node from before nodes had keys. Returns its id, or `undefined` when there is none. */
export async function adoptKeylessNode(db: Executor, publicKey: Buffer): Promise<string | undefined> {
  const row = await db
    .updateTable('nodes')
    .set({ public_key: publicKey })
    .where('public_key', 'is', null)
    .where('local', '=', true)
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** The local node that was seen last. @param name `null` for one of any name */
export async function findLocalNode(
  db: Executor,
  name: string | null,
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  const local = db.selectFrom('nodes').select(['id', 'name']).where('local', '=', true);
  const named = name === null ? local : local.where('name', '=', name);
  return named.orderBy('seen_at', (order) => order.desc().nullsLast()).executeTakeFirst();
}

export async function replaceKey(db: Executor, nodeId: string, publicKey: Buffer): Promise<void> {
  await db.updateTable('nodes').set({ public_key: publicKey }).where('id', '=', nodeId).execute();
}

/** Makes a node local, and sets whether it holds a lease. */
export async function updateLeased(db: Executor, nodeId: string, leased: boolean): Promise<void> {
  await db.updateTable('nodes').set({ local: true, leased }).where('id', '=', nodeId).execute();
}

export interface RegisteringNode {
  readonly name: string;
  /** It shares its machine with a core. */
  readonly local: boolean;
  readonly publicKey: Buffer | null;
}

/** @throws RefusalError `unauthenticated` for a node that was removed a moment ago */
export async function registeringNode(db: Executor, nodeId: string): Promise<RegisteringNode> {
  const row = await db
    .selectFrom('nodes')
    .select(['name', 'local', 'public_key'])
    .where('id', '=', nodeId)
    .executeTakeFirst();
  if (row === undefined) throw refuse('unauthenticated', 'This node was removed.');
  return { name: row.name, local: row.local, publicKey: row.public_key };
}

/** Gives a local node a lease, because core now runs without it: without heartbeats it is declared lost. */
export async function leaveLocalNode(db: Executor, publicKey: Buffer): Promise<void> {
  await db.updateTable('nodes').set({ leased: true }).where('public_key', '=', publicKey).execute();
}

/** Returns whether the node holds a lease; `undefined` for a node that is gone. */
export async function countHeartbeat(
  db: Executor,
  nodeId: string,
  {
    now,
    lostAfterMilliseconds,
    diskFull,
  }: { readonly now: Date; readonly lostAfterMilliseconds: number; readonly diskFull: boolean },
): Promise<{ readonly leased: boolean; readonly returned: boolean } | undefined> {
  const { rows } = await sql<{ leased: boolean; returned: boolean }>`
    WITH former AS (SELECT id, lost_at FROM nodes WHERE id = ${nodeId} FOR UPDATE)
    UPDATE nodes
       SET beat = beat + 1, seen_at = ${now}, lost_at = NULL, lost_after_milliseconds = ${lostAfterMilliseconds},
           disk_full = ${diskFull}
      FROM former WHERE nodes.id = former.id
    RETURNING leased, former.lost_at IS NOT NULL AS returned`.execute(db);
  return rows[0];
}

/** Stores an enrolment token by its hash, and deletes expired ones. */
export async function insertToken(
  db: Executor,
  token: {
    readonly hash: Buffer;
    readonly labels: readonly string[];
    readonly expiresAt: Date;
    readonly proven: ProvenTime;
    /** The node that gets the key of whoever uses the token; `null` makes a new node. */
    readonly adopts: string | null;
  },
): Promise<void> {
  await db.deleteFrom('node_tokens').where('expires_at', '<=', token.proven).execute();
  const { hash, labels, expiresAt, adopts } = token;
  await db
    .insertInto('node_tokens')
    .values({ token_hash: hash, labels: [...labels], expires_at: expiresAt, adopts })
    .execute();
}

/**
 * Gives a node that is lost another key. Its challenges and its credential were for the former one, whose holder is nobody from
 * now on. Returns its name, or `undefined` when it is not lost any more.
 */
export async function adoptLost(
  db: Executor,
  nodeId: string,
  { publicKey, credential }: { readonly publicKey: Buffer; readonly credential: IssuedCredential },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('nodes')
    .set({ public_key: publicKey })
    .where('id', '=', nodeId)
    .where('lost_at', 'is not', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await db.deleteFrom('node_challenges').where('node_id', '=', nodeId).execute();
  await setCredential(db, nodeId, credential);
  return true;
}

/**
 * Consumes the token for this key, which alone may use it again. Returns what it gives, or `undefined` if it is invalid.
 */
export async function useToken(
  db: Executor,
  token: { readonly hash: Buffer; readonly publicKey: Buffer; readonly now: Date },
): Promise<{ readonly labels: string[]; readonly adopts: string | null; readonly repeated: boolean } | undefined> {
  const { rows } = await sql<{ labels: string[]; adopts: string | null; repeated: boolean }>`
    WITH former AS (SELECT token_hash, used_by FROM node_tokens WHERE token_hash = ${token.hash} FOR UPDATE)
    UPDATE node_tokens t SET used_by = ${token.publicKey}
      FROM former
     WHERE t.token_hash = former.token_hash AND t.expires_at > ${token.now}
       AND (former.used_by IS NULL OR former.used_by = ${token.publicKey})
    RETURNING t.labels, t.adopts, former.used_by IS NOT NULL AS repeated`.execute(db);
  return rows[0];
}

/** Stores a challenge for the node with this key and deletes expired ones; no effect for an unknown key. */
export async function insertChallenge(
  db: Executor,
  challenge: {
    readonly hash: Buffer;
    readonly publicKey: Buffer;
    readonly expiresAt: Date;
    readonly proven: ProvenTime;
  },
): Promise<void> {
  await db.deleteFrom('node_challenges').where('expires_at', '<=', challenge.proven).execute();
  await sql`
    INSERT INTO node_challenges (nonce_hash, node_id, expires_at)
    SELECT ${challenge.hash}, id, ${challenge.expiresAt} FROM nodes WHERE public_key = ${challenge.publicKey}`.execute(
    db,
  );
}

/** Consumes the challenge. Returns its node, or `undefined` when it is unknown, expired, or another key's. */
export async function takeChallenge(
  db: Executor,
  challenge: { readonly hash: Buffer; readonly publicKey: Buffer; readonly now: Date },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    DELETE FROM node_challenges c USING nodes n
     WHERE c.nonce_hash = ${challenge.hash} AND c.expires_at > ${challenge.now}
       AND n.id = c.node_id AND n.public_key = ${challenge.publicKey}
    RETURNING n.id`.execute(db);
  return rows[0]?.id;
}

/** Stores the addresses of a node. Returns its former inbound origin. */
export async function updateNode(
  db: Executor,
  nodeId: string,
  node: {
    readonly controlUrl: string;
    readonly controlCredential: Buffer;
    readonly inboundOrigin: string | null;
    readonly machine: NodeMachine | undefined;
    readonly asksCapabilities: boolean;
    readonly seenAt: Date;
  },
): Promise<string | null> {
  const { machine } = node;
  const { rows } = await sql<{ former: string | null }>`
    WITH former AS (SELECT id, inbound_origin FROM nodes WHERE id = ${nodeId} FOR UPDATE)
    UPDATE nodes
       SET control_url = ${node.controlUrl}, control_credential = ${node.controlCredential},
           inbound_origin = ${node.inboundOrigin}, seen_at = ${node.seenAt},
           memory_mib = ${machine?.memoryMiB ?? null}, cpus = ${machine?.cpus ?? null},
           disk_mib = ${machine?.diskMiB ?? null},
           driver = ${machine?.driver ?? null}, mechanism = ${machine?.mechanism ?? null},
           runtimes = ${machine?.runtimes ?? ['node']}, processor = ${machine?.processor ?? null}, version = ${machine?.version ?? null},
           shared_store = ${machine?.sharedStore ?? null}, asks_capabilities = ${node.asksCapabilities},
           gives = ${machine?.gives ?? null}
      FROM former
     WHERE nodes.id = former.id
    RETURNING former.inbound_origin AS former`.execute(db);
  return rows[0]?.former ?? null;
}

/** Something that was sealed with the master key: the control credential of a node that has registered. */
export async function sealedControl(
  db: Executor,
): Promise<{ readonly id: string; readonly control_credential: Buffer } | undefined> {
  const row = await db
    .selectFrom('nodes')
    .select(['id', 'control_credential'])
    .where('control_credential', 'is not', null)
    .executeTakeFirst();
  return row === undefined || row.control_credential === null
    ? undefined
    : { id: row.id, control_credential: row.control_credential };
}

export interface NodeAtOrigin {
  readonly id: string;
  readonly name: string;
  readonly local: boolean;
  readonly lost: boolean;
}

/** The other nodes that have this origin. */
export async function nodesAt(db: Executor, nodeId: string, inboundOrigin: string): Promise<NodeAtOrigin[]> {
  const { rows } = await sql<NodeAtOrigin>`
    SELECT id, name, local, lost_at IS NOT NULL AS lost FROM nodes
     WHERE id <> ${nodeId} AND inbound_origin = ${inboundOrigin} ORDER BY name`.execute(db);
  return rows;
}

/** Takes this origin from the node. Returns whether the node had it. */
export async function dropOrigin(db: Executor, nodeId: string, origin: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('nodes')
    .set({ inbound_origin: null })
    .where('id', '=', nodeId)
    .where('inbound_origin', '=', origin)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Records when the node was last seen. */
export async function touchNode(db: Executor, nodeId: string, now: Date): Promise<void> {
  await db.updateTable('nodes').set({ seen_at: now }).where('id', '=', nodeId).execute();
}

export interface ControlAddress {
  readonly node_id: string;
  readonly name: string;
  readonly control_url: string | null;
  readonly control_credential: Buffer | null;
  /** What an https control side must prove. */
  readonly public_key: Buffer | null;
  readonly lost_at: Date | null;
}

const CONTROL_COLUMNS = [
  'nodes.id as node_id',
  'nodes.name',
  'nodes.control_url',
  'nodes.control_credential',
  'nodes.public_key',
  'nodes.lost_at',
] as const;

/** The control address of an installation's node, also for removed installations, so that they can be stopped. */
export async function controlAddress(
  db: Executor,
  installationId: InstallationId,
): Promise<ControlAddress | undefined> {
  return db
    .selectFrom('kept_installations')
    .innerJoin('nodes', 'nodes.id', 'kept_installations.node_id')
    .select(CONTROL_COLUMNS)
    .where('kept_installations.id', '=', installationId)
    .executeTakeFirst();
}

/** The control address of the node that still holds an installation that was moved from it. */
export async function holderAddress(db: Executor, installationId: InstallationId): Promise<ControlAddress | undefined> {
  return db
    .selectFrom('kept_installations')
    .innerJoin('nodes', 'nodes.id', 'kept_installations.held_by')
    .select(CONTROL_COLUMNS)
    .where('kept_installations.id', '=', installationId)
    .executeTakeFirst();
}

/** The control address of a node; `undefined` for one that was removed. */
export async function addressOfNode(db: Executor, nodeId: string): Promise<ControlAddress | undefined> {
  return db.selectFrom('nodes').select(CONTROL_COLUMNS).where('id', '=', nodeId).executeTakeFirst();
}

/** What a call to the backend of an installed app depends on; without a node all its columns are `null`. */
export interface CallRow extends Omit<ControlAddress, 'node_id' | 'name'> {
  readonly node_id: string | null;
  readonly name: string | null;
  readonly has_workload: boolean;
  /** Came with an update, and its owner has not reviewed it. */
  readonly unreviewed: boolean;
  readonly waiting: boolean;
  readonly paused: boolean;
  readonly suspended: boolean;
  /** By its owner. */
  readonly stopped: boolean;
}

const FIND_CALLED = {
  name: 'find-called',
  text: `
    SELECT n.id AS node_id, n.name, n.control_url, n.control_credential, n.public_key, n.lost_at,
           v.manifest ? 'workload' AS has_workload, ${unreviewedBackendText()} AS unreviewed, i.waiting, i.stopped,
           a.paused_at IS NOT NULL AS paused, a.suspended_at IS NOT NULL AS suspended
      FROM installed_apps i
      JOIN account_states a ON a.key = i.account_key
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN nodes n ON n.id = i.node_id
     WHERE i.id = $1`,
};

/** `undefined` when it is not installed. */
export async function findCalled(pool: pg.Pool, installationId: InstallationId): Promise<CallRow | undefined> {
  const { rows } = await pool.query<CallRow>({ ...FIND_CALLED, values: [installationId] });
  return rows[0];
}
