// All SQL of Ingresses: their keys, tokens and credentials, the list for the operator, and their reports.

import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import type { UsedToken } from '../members/join-member.ts';
import type { IssuedCredential } from '../members/member-credentials.ts';

type Executor = Kysely<DatabaseSchema>;

export interface IngressOfCredential {
  readonly id: string;
  readonly public_key: Buffer;
  readonly credential_expires_at: Date;
}

const FIND_INGRESS = {
  name: 'find-ingress',
  text: 'SELECT id, public_key, credential_expires_at FROM ingresses WHERE credential_hash = $1',
};

/** The Ingress with this credential, even an expired one; `undefined` when it is unknown. */
export async function findByCredential(pool: pg.Pool, tokenHash: Buffer): Promise<IngressOfCredential | undefined> {
  const { rows } = await pool.query<IngressOfCredential>({ ...FIND_INGRESS, values: [tokenHash] });
  return rows[0];
}

export async function findByKey(db: Executor, publicKey: Buffer): Promise<string | undefined> {
  const row = await db.selectFrom('ingresses').select('id').where('public_key', '=', publicKey).executeTakeFirst();
  return row?.id;
}

/** The node whose loopback addresses mean something to the Ingress. */
export async function besideNode(db: Executor, ingressId: string): Promise<string | null> {
  const row = await db.selectFrom('ingresses').select('beside_node').where('id', '=', ingressId).executeTakeFirst();
  return row?.beside_node ?? null;
}

export async function publicKeyOf(db: Executor, ingressId: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom('ingresses').select('public_key').where('id', '=', ingressId).executeTakeFirst();
  return row?.public_key;
}

/** Stores where nodes behind NAT connect to an Ingress. Returns whether that is new. */
export async function setLink(db: Executor, ingressId: string, link: string | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('ingresses')
    .set({ link })
    .where('id', '=', ingressId)
    .where('link', 'is distinct from', link)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export interface NewIngress {
  readonly id: string;
  readonly name: string;
  readonly publicKey: Buffer;
  readonly local: boolean;
  readonly besideNode: string | null;
  readonly credential: IssuedCredential;
  readonly now: Date;
}

/** Returns whether it was inserted; not when another Ingress has the name. */
export async function insertIngress(db: Executor, ingress: NewIngress): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('ingresses')
    .values({
      id: ingress.id,
      name: ingress.name,
      public_key: ingress.publicKey,
      credential_hash: ingress.credential.hash,
      credential_expires_at: ingress.credential.expiresAt,
      local: ingress.local,
      beside_node: ingress.besideNode,
      joined_at: ingress.now,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Makes an Ingress the one of a core's machine. */
export async function updateLocal(db: Executor, ingressId: string, nodeId: string | null): Promise<void> {
  await db.updateTable('ingresses').set({ local: true, beside_node: nodeId }).where('id', '=', ingressId).execute();
}

/** Replaces the credential of an Ingress; the former one is invalid from then on. */
export async function setCredential(
  db: Executor,
  ingressId: string,
  { hash, expiresAt }: IssuedCredential,
): Promise<void> {
  await db
    .updateTable('ingresses')
    .set({ credential_hash: hash, credential_expires_at: expiresAt })
    .where('id', '=', ingressId)
    .execute();
}

/** Stores an enrolment token by its hash, and deletes expired ones. */
export async function insertToken(
  db: Executor,
  token: { readonly hash: Buffer; readonly expiresAt: Date; readonly proven: ProvenTime },
): Promise<void> {
  await db.deleteFrom('ingress_tokens').where('expires_at', '<=', token.proven).execute();
  await db.insertInto('ingress_tokens').values({ token_hash: token.hash, expires_at: token.expiresAt }).execute();
}

/** Consumes the token for this key, which alone may use it again; `undefined` if it is invalid. */
export async function useToken(
  db: Executor,
  token: { readonly hash: Buffer; readonly publicKey: Buffer; readonly now: Date },
): Promise<UsedToken | undefined> {
  const { rows } = await sql<UsedToken>`
    WITH former AS (SELECT token_hash, used_by FROM ingress_tokens WHERE token_hash = ${token.hash} FOR UPDATE)
    UPDATE ingress_tokens t SET used_by = ${token.publicKey}
      FROM former
     WHERE t.token_hash = former.token_hash AND t.expires_at > ${token.now}
       AND (former.used_by IS NULL OR former.used_by = ${token.publicKey})
    RETURNING former.used_by IS NOT NULL AS repeated`.execute(db);
  return rows[0];
}

/** Stores a challenge for the Ingress with this key and deletes expired ones; no effect for an unknown key. */
export async function insertChallenge(
  db: Executor,
  challenge: {
    readonly hash: Buffer;
    readonly publicKey: Buffer;
    readonly expiresAt: Date;
    readonly proven: ProvenTime;
  },
): Promise<void> {
  await db.deleteFrom('ingress_challenges').where('expires_at', '<=', challenge.proven).execute();
  await sql`
    INSERT INTO ingress_challenges (nonce_hash, ingress_id, expires_at)
    SELECT ${challenge.hash}, id, ${challenge.expiresAt} FROM ingresses
     WHERE public_key = ${challenge.publicKey}`.execute(db);
}

/** Consumes the challenge. Returns its Ingress, or `undefined` when it is unknown, expired, or another key's. */
export async function takeChallenge(
  db: Executor,
  challenge: { readonly hash: Buffer; readonly publicKey: Buffer; readonly now: Date },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    DELETE FROM ingress_challenges c USING ingresses g
     WHERE c.nonce_hash = ${challenge.hash} AND c.expires_at > ${challenge.now}
       AND g.id = c.ingress_id AND g.public_key = ${challenge.publicKey}
    RETURNING g.id`.execute(db);
  return rows[0]?.id;
}

export interface IngressRow {
  readonly id: string;
  readonly name: string;
  /** It runs on the machine of a core. */
  readonly local: boolean;
  readonly joinedAt: Date;
  readonly online: boolean;
  /** Revision of the topology that is in effect there; `null` before the first. */
  readonly revision: string | null;
  /** Of the topology now. */
  readonly current: string;
  readonly seenAt: Date | null;
}

/** All Ingresses, by name. */
export async function listIngressRows(db: Executor, silentSeconds: number): Promise<IngressRow[]> {
  const { rows } = await sql<IngressRow>`
    SELECT g.id, g.name, g.local, g.joined_at AS "joinedAt", f.revision::text AS revision, f.at AS "seenAt",
           coalesce(f.at > clock_timestamp() - make_interval(secs => ${silentSeconds}), false) AS online,
           (SELECT revision::text FROM topology_revision) AS current
      FROM ingresses g
      LEFT JOIN follower_progress f ON f.follows = 'topology' AND f.follower_id = g.id
     ORDER BY g.name`.execute(db);
  return rows;
}

export interface RemovedIngress {
  readonly id: string;
  readonly local: boolean;
  readonly online: boolean;
}

/** Returns the Ingress that was removed; `undefined` for one that is unknown. */
export async function deleteIngress(
  db: Executor,
  name: string,
  silentSeconds: number,
): Promise<RemovedIngress | undefined> {
  const { rows } = await sql<RemovedIngress>`
    DELETE FROM ingresses g WHERE name = ${name}
    RETURNING id, local, EXISTS (
      SELECT FROM follower_progress f
       WHERE f.follows = 'topology' AND f.follower_id = g.id
         AND f.at > clock_timestamp() - make_interval(secs => ${silentSeconds})) AS online`.execute(db);
  return rows[0];
}
