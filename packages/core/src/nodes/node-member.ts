// Nodes among the members of a platform: where their tokens, challenges and credentials are.

import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { MemberStore, UsedToken } from '../members/join-member.ts';
import { findNodeByKey, insertChallenge, insertNode, setCredential, takeChallenge, useToken } from './node-queries.ts';

interface NodeToken extends UsedToken {
  readonly labels: readonly string[];
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
      const id = newId('node', context);
      const node = { id, name, publicKey, labels: token.labels, local: false, leased: true, credential: fresh, now };
      return (await insertNode(trx, node)) ? id : undefined;
    },
  };
}
