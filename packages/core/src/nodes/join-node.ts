// Joins a machine as a node, and renews its credential.
import type { joinMemberBody, NodeCredential, proveMemberBody } from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { createEnrolmentToken, joinMember } from '../members/join-member.ts';
import { type FreshCredential, renewCredential } from '../members/member-credentials.ts';
import { hostingLabels } from '../placement/face.ts';
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
    insertToken(context.database, { ...token, labels: [...new Set(hosted)] }),
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
