// Nodes among the members of a platform: where their tokens, challenges and credentials are.

import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { MemberStore, UsedToken } from '../members/join-member.ts';
import {
  adoptLost,
  findNodeByKey,
  insertChallenge,
  insertNode,
  setCredential,
  takeChallenge,
  useToken,
} from './node-queries.ts';

interface NodeToken extends UsedToken {
  readonly labels: readonly string[];
  /** The node that gets the key; `null` for a new one. */
  readonly adopts: string | null;
}

export function nodeMembers(context: Pick<CoreContext, 'clock' | 'random'>): MemberStore<NodeToken> {
  return {
    kind: 'node',
    words: 'a node',
    insertChallenge,
    takeChallenge,
    async replaceCredential(trx, nodeId, credential) {
      await setCredential(trx, nodeId, credential);
      await notify(trx, 'node-credential-replaced', { nodeId });
    },
    useToken,
    findByKey: findNodeByKey,
    async insert(trx, { name, publicKey, token, fresh, now }) {
      const { adopts } = token;
      if (adopts !== null) {
        if (!(await adoptLost(trx, adopts, { publicKey, credential: fresh })))
          throw refuse(
            'invalid_request',
            'The node that this token was made for answers again, so its key is not lost.',
          );
        await notify(trx, 'node-credential-replaced', { nodeId: adopts });
        return adopts;
      }
      const id = newId('node', context);
      const node = { id, name, publicKey, labels: token.labels, local: false, leased: true, credential: fresh, now };
      return (await insertNode(trx, node)) ? id : undefined;
    },
  };
}
