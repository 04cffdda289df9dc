// The credential with which a part on its own (a node, an Ingress) calls core: short-lived, renewed by a proof with the
// part's key, held in memory only.
import { type LinkKey, publicKeyText, signText } from './key.ts';

/** A request to core without a credential: the status, and the body as it came. */
export type AnonymousCall = (
  path: string,
  body: object,
) => Promise<{ readonly status: number; readonly body: unknown }>;

export interface Credentials {
  /** Renewed before when half of its life is over. */
  current(): Promise<string>;
  /** The next one, after core did not take this one. @throws RemovedError when there is none for this key any more */
  after(refused: string): Promise<string>;
}

/** Core does not know the key of this part: it was removed, or belongs to another platform. */
export class RemovedError extends Error {
  constructor() {
    super('core does not know this key any more');
    this.name = 'RemovedError';
  }
}

/** How parts of one kind prove themselves. */
export interface Proof {
  /** Answers `{ publicKey }` with a nonce. */
  readonly challengePath: string;
  /** Answers `{ publicKey, nonce, signature }` with a credential. */
  readonly credentialPath: string;
  /** What is signed. */
  text(coreHost: string, nonce: string): string;
  /** @throws Error where the body is no challenge */
  readNonce(body: unknown): string;
  /** @throws Error where the body holds no credential */
  readCredential(body: unknown): string;
  /** Life of a credential. */
  readonly seconds: number;
}

export interface CredentialOptions {
  readonly proof: Proof;
  /** Undefined without a key: then the given credential is the only one. */
  readonly key: LinkKey | undefined;
  /** Host core is addressed by; part of every proof. */
  readonly coreHost: string;
  /** The first credential; without one the first is got by a proof. */
  readonly initial?: string | undefined;
  /** Milliseconds since some moment, going on while the machine sleeps. */
  readonly uptime: () => number;
  readonly call: AnonymousCall;
}

/** Keeps the credential of a member: renews it with the member's key at half of its life, and when core refuses it. */
export function openCredentials({ proof, key, coreHost, initial, uptime, call }: CredentialOptions): Credentials {
  const renewAfter = (proof.seconds * 1_000) / 2;
  let credential = initial;
  let since = uptime();
  let renewing: Promise<string> | undefined;

  async function prove(identity: LinkKey): Promise<string> {
    const publicKey = publicKeyText(identity.publicKey);
    const challenge = await call(proof.challengePath, { publicKey });
    // Over a link core answers nothing else to a key that it does not know.
    if (challenge.status === 401) throw new RemovedError();
    if (challenge.status !== 200) throw new Error(`core gave no challenge: ${challenge.status}`);
    const nonce = proof.readNonce(challenge.body);
    const signature = signText(identity, proof.text(coreHost, nonce));
    const answer = await call(proof.credentialPath, { publicKey, nonce, signature });
    if (answer.status === 401) throw new RemovedError();
    if (answer.status !== 200) throw new Error(`core gave no credential: ${answer.status}`);
    since = uptime();
    credential = proof.readCredential(answer.body);
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
      if (credential !== undefined && renewing === undefined && uptime() - since < renewAfter) return credential;
      return renew(key);
    },
    async after(refused) {
      if (key === undefined) throw new RemovedError();
      return credential !== undefined && credential !== refused ? credential : renew(key);
    },
  };
}
