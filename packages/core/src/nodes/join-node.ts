// Joins a machine as a node, and renews its credential.
import { type joinMemberBody, type NodeCredential, type proveMemberBody, refuse } from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { createEnrolmentToken, joinMember } from '../members/join-member.ts';
import { type FreshCredential, renewCredential } from '../members/member-credentials.ts';
import { hostingLabels } from '../placement/face.ts';
import { findNodeNamed } from './manage-queries.ts';
import { nodeMembers } from './node-member.ts';
import { insertToken } from './node-queries.ts';

/**
 * An enrolment token for one machine. What it may be trusted with, its labels, is said here and not by the machine.
 *
 * @param labels further ones; without one of {@link hostingLabels} the node is `self-hosted`
 */
export function createNodeToken(
  context: Parameters<typeof createEnrolmentToken>[0],
  labels: readonly string[],
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const hosted = hostingLabels.some((label) => labels.includes(label)) ? labels : ['self-hosted', ...labels];
  return createEnrolmentToken(context, 'node', (token) =>
    insertToken(context.database, { ...token, labels: [...new Set(hosted)], adopts: null }),
  );
}

/**
 * An enrolment token that gives a node whose key is lost the key of the machine that uses it. What the node is and runs, its
 * labels and the volumes that lie on it stay as they are.
 *
 * @throws RefusalError `not_found`; `invalid_request` for core's own machine, and for a node that answers
 */
export async function createAdoptionToken(
  context: Parameters<typeof createEnrolmentToken>[0],
  name: string,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const node = await findNodeNamed(context.database, name);
  if (node === undefined) throw refuse('not_found', `There is no node ${name}.`);
  if (node.local)
    throw refuse(
      'invalid_request',
      `${name} is the machine of the platform itself: ./platform start --adopt gives it a new key.`,
    );
  if (node.lost_at === null)
    throw refuse(
      'invalid_request',
      `${name} answers, or did a moment ago. Stop it; once it is lost, it can get another key.`,
    );
  return createEnrolmentToken(context, 'node', (token) =>
    insertToken(context.database, { ...token, labels: [], adopts: node.id }),
  );
}

/** @throws RefusalError as {@link joinMember} */
export async function joinNode(context: CoreContext, body: z.output<typeof joinMemberBody>): Promise<NodeCredential> {
  return wireCredential(await joinMember(context, nodeMembers(context), body));
}

/** @throws RefusalError as {@link renewCredential} */
export async function renewNode(
  context: CoreContext,
  proof: z.output<typeof proveMemberBody>,
): Promise<NodeCredential> {
  return wireCredential(await renewCredential(context, nodeMembers(context), proof));
}

function wireCredential({ id, fresh }: { readonly id: string; readonly fresh: FreshCredential }): NodeCredential {
  return { nodeId: id, nodeCredential: fresh.credential, expiresAt: fresh.expiresAt.toISOString() };
}
