// The credential of this node: short-lived, renewed by a proof with its key, held in memory only.
import { credentialProofText, limits, nodeChallenge, nodeCredential } from '@platform/contract';
import { type LinkKey, publicKeyText, signText } from '@platform/link';

/** A request to core without a credential: the status, and the body as it came. */
export type AnonymousCall = (
  path: string,
  body: object,
) => Promise<{ readonly status: number; readonly body: unknown }>;

export interface NodeCredentials {
  /** `pnd_…`, renewed before when half of its life is over. */
  current(): Promise<string>;
  /** The next one, after core did not take this one. @throws NodeRemovedError when there is none for this node any more */
  after(refused: string): Promise<string>;
}

/** Core does not know the key of this node: it was removed, or belongs to another platform. */
export class NodeRemovedError extends Error {
  constructor() {
    super('core does not know this node any more');
    this.name = 'NodeRemovedError';
  }
}

export interface CredentialOptions {
  /** Undefined without a key: then the given credential is the only one. */
  readonly key: LinkKey | undefined;
  /** Host core is addressed by; part of every proof. */
  readonly coreHost: string;
  /** The first credential; without one the first is got by a proof. */
  readonly initial: string | undefined;
  /** Milliseconds since some moment, going on while the machine sleeps. */
  readonly uptime: () => number;
  readonly call: AnonymousCall;
}

const RENEW_AFTER = (limits.nodeCredentialSeconds.value * 1_000) / 2;

export function openCredentials({ key, coreHost, initial, uptime, call }: CredentialOptions): NodeCredentials {
  let credential = initial;
  let since = uptime();
  let renewing: Promise<string> | undefined;

  async function prove(identity: LinkKey): Promise<string> {
    const publicKey = publicKeyText(identity.publicKey);
    const challenge = await call('/v1/node/challenge', { publicKey });
    // Over a link core answers nothing else to a key that it does not know.
    if (challenge.status === 401) throw new NodeRemovedError();
    if (challenge.status !== 200) throw new Error(`core gave no challenge: ${challenge.status}`);
    const { nonce } = nodeChallenge.parse(challenge.body);
    const signature = signText(identity, credentialProofText(coreHost, nonce));
    const answer = await call('/v1/node/credential', { publicKey, nonce, signature });
    if (answer.status === 401) throw new NodeRemovedError();
    if (answer.status !== 200) throw new Error(`core gave no credential: ${answer.status}`);
    since = uptime();
    credential = nodeCredential.parse(answer.body).nodeCredential;
    return credential;
  }

  /** One renewal at a time: each ends what the one before it got. */
  function renew(identity: LinkKey): Promise<string> {
    renewing ??= prove(identity).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  return {
    async current() {
      if (key === undefined) return credential ?? '';
      if (credential !== undefined && renewing === undefined && uptime() - since < RENEW_AFTER) return credential;
      return renew(key);
    },
    async after(refused) {
      if (key === undefined) throw new NodeRemovedError();
      return credential !== undefined && credential !== refused ? credential : renew(key);
    },
  };
}
