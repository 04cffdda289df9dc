// A node of another machine as core sees it: joined with a token and a key of its own, through the real routes.
import assert from 'node:assert/strict';
import {
  type Assignments,
  credentialProofText,
  joinProofText,
  type MemberChallenge,
  type NodeCredential,
  type NodeMachine,
  readEnrolmentToken,
} from '@platform/contract';
import { type LinkKey, publicKeyText, signText } from '@platform/link';
import { type Constellation, newNodeKey } from '../../../tests/support/constellation.ts';
import { type RawAnswer, rawRequest } from '../../../tests/support/raw-http.ts';
import { createNodeToken } from '../src/nodes/join-node.ts';
import { bearer } from './apps.ts';
import { controlCredential } from './node-double.ts';

export interface JoinedNode {
  readonly id: string;
  readonly name: string;
  readonly key: LinkKey;
  /** As the node, with its present credential. */
  call(path: string, body?: unknown): Promise<RawAnswer>;
  credential(): string;
  heartbeat(): Promise<RawAnswer>;
  /** Proves its key and takes the new credential. */
  renew(): Promise<void>;
  /** Ids of what is assigned to it. */
  assigned(): Promise<string[]>;
}

export const testMachine: NodeMachine = {
  memoryMiB: 4_096,
  cpus: 2,
  driver: 'process',
  mechanism: 'bubblewrap',
  runtimes: ['node'],
  version: '0.1.0',
};

/** An anonymous request, as a machine sends it. */
export function anonymous(
  { port, origin }: Pick<Constellation, 'port' | 'origin'>,
  path: string,
  body: unknown,
): Promise<RawAnswer> {
  const headers = { host: new URL(origin).host, 'content-type': 'application/json' };
  return rawRequest({ port, path, method: 'POST', headers, body: JSON.stringify(body) });
}

export async function enrolmentSecret(platform: Constellation, labels: readonly string[] = []): Promise<string> {
  const { token } = await createNodeToken(platform.core.context, labels);
  return readEnrolmentToken(token)?.secret ?? assert.fail('the token cannot be read');
}

/** What a machine sends to join; `more` replaces members of the body. */
export function joinBody(platform: Constellation, key: LinkKey, token: string, more: object = {}): object {
  const signature = signText(key, joinProofText(new URL(platform.origin).host, token));
  return { token, publicKey: publicKeyText(key.publicKey), name: 'node', signature, ...more };
}

/** What a node sends for its next credential, over a fresh challenge; `more` replaces members of the body. */
export async function proofBody(platform: Constellation, key: LinkKey, more: object = {}): Promise<object> {
  const publicKey = publicKeyText(key.publicKey);
  const challenged = await anonymous(platform, '/v1/node/challenge', { publicKey });
  assert.equal(challenged.status, 200, challenged.text);
  const { nonce } = challenged.json as MemberChallenge;
  const signature = signText(key, credentialProofText(new URL(platform.origin).host, nonce));
  return { publicKey, nonce, signature, ...more };
}

/** Joins, registers, and sends its first heartbeat. */
export async function joinTestNode(
  platform: Constellation,
  name: string,
  options: { readonly labels?: readonly string[]; readonly machine?: Partial<NodeMachine> } = {},
): Promise<JoinedNode> {
  const key = newNodeKey();
  const token = await enrolmentSecret(platform, options.labels ?? ['platform-hosted']);
  const joined = await anonymous(platform, '/v1/node/join', joinBody(platform, key, token, { name }));
  assert.equal(joined.status, 201, joined.text);
  const { nodeId, nodeCredential: first } = joined.json as NodeCredential;
  let credential = first;
  const node: JoinedNode = {
    id: nodeId,
    name,
    key,
    call: (path, body) => bearer(platform, credential, path, body),
    credential: () => credential,
    heartbeat: () => node.call('/v1/node/heartbeat', {}),
    async renew() {
      const answer = await anonymous(platform, '/v1/node/credential', await proofBody(platform, key));
      assert.equal(answer.status, 200, answer.text);
      credential = (answer.json as NodeCredential).nodeCredential;
    },
    async assigned() {
      const { items } = (await node.call('/v1/node/assignments')).json as Assignments;
      return items.map(({ installationId }) => installationId);
    },
  };
  const registered = await node.call('/v1/node/register', {
    controlUrl: 'https://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: `https://${name}.example`,
    machine: { ...testMachine, ...options.machine },
  });
  assert.equal(registered.status, 204, registered.text);
  const beat = await node.heartbeat();
  assert.equal(beat.status, 200, beat.text);
  return node;
}

/** Says what core's own machine has, as its Runtime does. */
export async function registerLocalMachine(platform: Constellation, machine: Partial<NodeMachine>): Promise<void> {
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/register', {
    controlUrl: 'http://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: platform.core.context.config.nodeOrigin,
    machine: { ...testMachine, ...machine },
  });
  assert.equal(answer.status, 204, answer.text);
}
