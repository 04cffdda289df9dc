// The Ingresses as members of the platform: how they join, the one on core's machine, and the operator's commands for them.
import { type IngressCredential, type joinMemberBody, limits, type proveMemberBody, refuse } from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { deleteFollower } from '../members/follower-queries.ts';
import { createEnrolmentToken, joinMember, type MemberStore, type UsedToken } from '../members/join-member.ts';
import { type FreshCredential, freshCredential, renewCredential } from '../members/member-credentials.ts';
import { assignmentsChanged } from '../placement/face.ts';
import {
  deleteIngress,
  findByKey,
  type IngressRow,
  insertChallenge,
  insertIngress,
  insertToken,
  listIngressRows,
  setCredential,
  takeChallenge,
  updateLocal,
  useToken,
} from './ingress-queries.ts';

export type { IngressRow } from './ingress-queries.ts';

export function ingressMembers(context: Pick<CoreContext, 'clock' | 'random'>): MemberStore<UsedToken> {
  return {
    kind: 'ingress',
    words: 'an Ingress',
    insertChallenge,
    takeChallenge,
    async replaceCredential(trx, ingressId, credential) {
      await setCredential(trx, ingressId, credential);
      await notify(trx, 'ingress-credential-replaced', { ingressId });
    },
    useToken,
    findByKey,
    async insert(trx, { name, publicKey, fresh, now }) {
      const id = newId('ingress', context);
      const ingress = { id, name, publicKey, local: false, besideNode: null, credential: fresh, now };
      if (!(await insertIngress(trx, ingress))) return undefined;
      // Nodes take requests from its key.
      await assignmentsChanged(trx, null);
      return id;
    },
  };
}

/** An enrolment token for one Ingress. */
export function createIngressToken(
  context: Parameters<typeof createEnrolmentToken>[0],
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  return createEnrolmentToken(context, 'ingress', (token) => insertToken(context.database, token));
}

/** @throws RefusalError as {@link joinMember} */
export async function joinIngress(
  context: CoreContext,
  body: z.output<typeof joinMemberBody>,
): Promise<IngressCredential> {
  return wireCredential(await joinMember(context, ingressMembers(context), body));
}

/** @throws RefusalError as {@link renewCredential} */
export async function renewIngress(
  context: CoreContext,
  proof: z.output<typeof proveMemberBody>,
): Promise<IngressCredential> {
  return wireCredential(await renewCredential(context, ingressMembers(context), proof));
}

function wireCredential({ id, fresh }: { readonly id: string; readonly fresh: FreshCredential }): IngressCredential {
  return { ingressId: id, ingressCredential: fresh.credential, expiresAt: fresh.expiresAt.toISOString() };
}

/** What core is given of its machine as an Ingress. */
export interface LocalIngressOptions {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  /** Shown to the operator; made different when another Ingress has it. */
  readonly name: string;
}

/** What the Ingress on this machine presents to core, new at every start. */
export interface LocalIngress {
  readonly ingressId: string;
  /** In plain: the only place where it is, besides the process that is given it. */
  readonly ingressCredential: string;
  readonly expiresAt: Date;
}

/**
 * Makes sure that this machine is an Ingress and gives it a new credential; the one of the former start ends.
 *
 * @param nodeId the node on this machine, `null` without one
 */
export async function ensureLocalIngress(
  context: CoreContext,
  { publicKey, name, nodeId }: LocalIngressOptions & { readonly nodeId: string | null },
): Promise<LocalIngress> {
  const fresh = freshCredential(context, 'ingress');
  const members = ingressMembers(context);
  const ingressId = await context.database.transaction().execute(async (trx) => {
    const known = await findByKey(trx, publicKey);
    if (known !== undefined) {
      await updateLocal(trx, known, nodeId);
      await members.replaceCredential(trx, known, fresh);
      return known;
    }
    const id = newId('ingress', context);
    const ingress = { id, publicKey, local: true, besideNode: nodeId, credential: fresh, now: context.clock() };
    const another = `${name}-${context.random(3).toString('hex')}`;
    for (const one of [name, another])
      if (await insertIngress(trx, { ...ingress, name: one })) {
        await assignmentsChanged(trx, null);
        return id;
      }
    throw new Error(`no name is left for the Ingress ${name}`);
  });
  return { ingressId, ingressCredential: fresh.credential, expiresAt: fresh.expiresAt };
}

/** Whether this is the link key of an Ingress. */
export async function isIngressKey(db: Executor, publicKey: Buffer): Promise<boolean> {
  return (await findByKey(db, publicKey)) !== undefined;
}

/** All Ingresses, by name, with the revision that is in effect there. */
export function listIngresses({ database }: Pick<CoreContext, 'database'>): Promise<IngressRow[]> {
  return listIngressRows(database, limits.topologySilence.value);
}

/**
 * Removes an Ingress: its key and its credential become invalid, its stream ends, and nodes take no requests from it.
 *
 * @throws RefusalError `not_found`; `invalid_request` for one on core's machine that runs: core would register it
 *   again at its next start
 */
export async function removeIngress(context: CoreContext, name: string): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    const removed = await deleteIngress(trx, name, limits.topologySilence.value);
    if (removed === undefined) throw refuse('not_found', `There is no Ingress named ${name}.`);
    if (removed.local && removed.online)
      throw refuse(
        'invalid_request',
        `${name} is on the machine of the platform itself. Set PLATFORM_INGRESS_LISTEN to nothing to remove it.`,
      );
    await deleteFollower(trx, 'topology', removed.id);
    await notify(trx, 'ingress-credential-replaced', { ingressId: removed.id });
    await assignmentsChanged(trx, null);
  });
}
