// Joins a machine as a node: it presents the operator's single-use token and proves possession of its key.
import {
  type joinNodeBody,
  joinProofText,
  limits,
  type NodeCredential,
  refuse,
  writeEnrolmentToken,
} from '@platform/contract';
import { publicKeyText, verifyText } from '@platform/link';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { hashCredential } from '../credentials/credential.ts';
import { newId } from '../credentials/ids.ts';
import { linkKeyOf } from '../credentials/master-key.ts';
import { hostingLabels } from '../placement/hosting-labels.ts';
import { freshCredential, readKey, replaceCredential, wireCredential } from './node-credentials.ts';
import { findNodeByKey, insertNode, insertToken, useToken } from './node-queries.ts';

/**
 * An enrolment token for one machine. What it may be trusted with, its labels, is said here and not by the machine.
 *
 * @param labels further ones; without one of {@link hostingLabels} the node is `self-hosted`
 */
export async function createNodeToken(
  context: Pick<CoreContext, 'database' | 'clock' | 'random' | 'masterKey'> & {
    readonly config: Pick<CoreContext['config'], 'origin'>;
  },
  labels: readonly string[],
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const now = context.clock();
  const expiresAt = new Date(now.getTime() + limits.nodeTokenSeconds.value * 1_000);
  const secret = `pne_${context.random(32).toString('base64url')}`;
  const hosted = hostingLabels.some((label) => labels.includes(label)) ? labels : ['self-hosted', ...labels];
  await insertToken(context.database, { hash: hashCredential(secret), labels: [...new Set(hosted)], expiresAt, now });
  const token = writeEnrolmentToken({
    secret,
    host: new URL(context.config.origin).host,
    key: publicKeyText(linkKeyOf(context.masterKey).publicKey),
  });
  return { token, expiresAt };
}

/**
 * @throws RefusalError `unauthenticated` for a token that is unknown, used or expired, or a signature that is not the
 *   key's; `invalid_request` for a name that another node has
 */
export async function joinNode(context: CoreContext, body: z.output<typeof joinNodeBody>): Promise<NodeCredential> {
  const publicKey = readKey(body.publicKey);
  if (!verifyText(publicKey, joinProofText(new URL(context.config.origin).host, body.token), body.signature))
    throw refuse('unauthenticated', 'The signature is not one of this key for this platform.');
  const credential = freshCredential(context);
  const now = context.clock();
  const id = await context.database.transaction().execute(async (trx) => {
    const token = await useToken(trx, { hash: hashCredential(body.token), publicKey, now });
    if (token === undefined) throw refuse('unauthenticated', 'The enrolment token is unknown, used or expired.');
    const known = await findNodeByKey(trx, publicKey);
    if (known !== undefined) {
      if (!token.repeated) throw refuse('invalid_request', 'This machine is a node of this platform already.');
      await replaceCredential(trx, known, credential);
      return known;
    }
    const node = { id: newId('node', context), name: body.name, publicKey, labels: token.labels };
    if (!(await insertNode(trx, { ...node, local: false, leased: true, credential, now })))
      throw refuse('invalid_request', 'Another node has this name. Choose one with --name.', {
        errors: [{ path: 'name', message: 'belongs to another node' }],
      });
    return node.id;
  });
  context.log.info({ nodeId: id, name: body.name }, 'a node joined');
  return wireCredential(id, credential);
}
