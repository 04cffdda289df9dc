// A WebAuthn authenticator and its browser in software: valid ceremonies by default, and a hook at every step where a
// test can change one thing (WebAuthn Level 3, sections 5.1, 6.1, 6.5; PRF of section 10.1.4).
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { CeremonyOptions } from '@platform/contract';
import { type Cbor, type CborMap, encodeCbor } from './cbor.ts';

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';
const COSE_ALGORITHM: Readonly<Record<Algorithm, number>> = { ES256: -7, EdDSA: -8, RS256: -257 };

export interface AuthenticatorSettings {
  readonly rpId: string;
  readonly origin: string;
  /** Default ES256. */
  readonly algorithm?: Algorithm;
  /** Whether the signature counter goes up with each use; else it stays 0, as with synchronised passkeys. */
  readonly counts?: boolean;
  /** Default: eligible and backed up when it does not count, neither when it does. */
  readonly backupEligible?: boolean;
  readonly backedUp?: boolean;
}

export interface TestCredential {
  readonly id: Buffer;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly algorithm: Algorithm;
  readonly userHandle: Buffer;
  /** CredRandom of hmac-secret (CTAP 2.2, section 12.8). */
  readonly credRandom: Buffer;
  counter: number;
  backupEligible: boolean;
  backedUp: boolean;
}

export type ClientData = {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
  readonly crossOrigin: boolean;
};

type AnyObject = Record<string, unknown>;

/** Each hook gets the valid value and gives what is used instead. */
export interface CeremonyChanges {
  readonly clientData?: (data: ClientData) => AnyObject | Buffer;
  readonly authData?: (bytes: Buffer) => Buffer;
}

export interface CreationChanges extends CeremonyChanges {
  readonly credentialId?: Buffer;
  readonly coseKey?: (key: CborMap) => Cbor;
  /** Default `none`; `packed` is self attestation. */
  readonly format?: 'none' | 'packed';
  readonly attestation?: (object: CborMap) => Cbor;
}

export interface RequestChanges extends CeremonyChanges {
  readonly signature?: (signature: Buffer, signed: Buffer, credential: TestCredential) => Buffer;
  /** The client data sent, when it is not the one that was signed. */
  readonly sentClientData?: (bytes: Buffer) => Buffer;
}

/** RegistrationResponseJSON. */
export interface CreationAnswer {
  id: string;
  rawId: string;
  type: string;
  response: { clientDataJSON: string; attestationObject: string; transports: string[] };
  clientExtensionResults: AnyObject;
}

/** AuthenticationResponseJSON. */
export interface RequestAnswer {
  id: string;
  rawId: string;
  type: string;
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle: string };
  clientExtensionResults: AnyObject;
}

const FLAG = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40 };

interface CreationOptions {
  readonly challenge: string;
  readonly user: { readonly id: string };
  readonly excludeCredentials: readonly { readonly id: string }[];
  readonly pubKeyCredParams: readonly { readonly alg: number }[];
}

export class SoftwareAuthenticator {
  readonly credentials: TestCredential[] = [];
  readonly #settings: AuthenticatorSettings;

  constructor(settings: AuthenticatorSettings) {
    this.#settings = settings;
  }

  /**
   * What `navigator.credentials.create(…).toJSON()` gives.
   *
   * @throws Error when the options exclude a credential that it holds, or offer none of its algorithms
   */
  create({ publicKey }: Pick<CeremonyOptions, 'publicKey'>, changes: CreationChanges = {}): CreationAnswer {
    const options = publicKey as unknown as CreationOptions;
    const { algorithm = 'ES256', counts = false } = this.#settings;
    const { backupEligible = !counts, backedUp = backupEligible } = this.#settings;
    if (options.excludeCredentials.some(({ id }) => this.#holds(id))) throw new Error('InvalidStateError: excluded');
    if (!options.pubKeyCredParams.some(({ alg }) => alg === COSE_ALGORITHM[algorithm]))
      throw new Error(`NotSupportedError: ${algorithm} is not offered`);
    const credential: TestCredential = {
      id: changes.credentialId ?? randomBytes(32),
      ...newKeyPair(algorithm),
      algorithm,
      userHandle: Buffer.from(options.user.id, 'base64url'),
      credRandom: randomBytes(32),
      counter: counts ? 1 : 0,
      backupEligible,
      backedUp,
    };
    this.credentials.push(credential);
    const clientData = this.#clientData('webauthn.create', options.challenge, changes);
    const cose = encodeCbor((changes.coseKey ?? identity)(coseKey(credential)));
    const idLength = Buffer.alloc(2);
    idLength.writeUInt16BE(credential.id.length);
    const attested = Buffer.concat([Buffer.alloc(16), idLength, credential.id, cose]);
    const authData = (changes.authData ?? identity)(
      Buffer.concat([this.#fixedPart(credential, FLAG.attested), attested]),
    );
    const object: CborMap = {
      pairs: [
        ['fmt', changes.format ?? 'none'],
        ['attStmt', changes.format === 'packed' ? selfAttestation(credential, authData, clientData) : { pairs: [] }],
        ['authData', authData],
      ],
    };
    const id = credential.id.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: encodeCbor((changes.attestation ?? identity)(object)).toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
      clientExtensionResults: { credProps: { rk: true } },
    };
  }

  /** What `navigator.credentials.get(…).toJSON()` gives once the shell has taken the PRF results out of it. */
  get(
    { publicKey }: Pick<CeremonyOptions, 'publicKey'>,
    changes: RequestChanges = {},
    credential: TestCredential | undefined = this.credentials.at(-1),
  ): RequestAnswer {
    if (credential === undefined) throw new Error('NotAllowedError: no credential');
    if (this.#settings.counts === true) credential.counter += 1;
    const clientData = this.#clientData('webauthn.get', publicKey.challenge, changes);
    const authData = (changes.authData ?? identity)(this.#fixedPart(credential, 0));
    const signed = Buffer.concat([authData, sha256(clientData)]);
    const signature = (changes.signature ?? identity)(signWith(credential, signed), signed, credential);
    const id = credential.id.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: (changes.sentClientData ?? identity)(clientData).toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: credential.userHandle.toString('base64url'),
      },
      clientExtensionResults: {},
    };
  }

  #holds(id: string): boolean {
    return this.credentials.some((credential) => credential.id.toString('base64url') === id);
  }

  #clientData(type: string, challenge: string, { clientData = identity }: CeremonyChanges): Buffer {
    const data = clientData({ type, challenge, origin: this.#settings.origin, crossOrigin: false });
    return Buffer.isBuffer(data) ? data : Buffer.from(JSON.stringify(data));
  }

  #fixedPart(credential: TestCredential, moreFlags: number): Buffer {
    const { counter, backupEligible, backedUp } = credential;
    const backup = (backupEligible ? FLAG.backupEligible : 0) | (backedUp ? FLAG.backedUp : 0);
    const rest = Buffer.alloc(5, FLAG.userPresent | FLAG.userVerified | backup | moreFlags);
    rest.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(this.#settings.rpId), rest]);
  }
}

/** The PRF output for one input (section 10.1.4): what must never reach a server. */
export function prfOutput(credRandom: Buffer, input: Buffer): Buffer {
  const salt = sha256(Buffer.concat([Buffer.from('WebAuthn PRF\0'), input]));
  return createHmac('sha256', credRandom).update(salt).digest();
}

export function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/** The signature that the credential's algorithm asks for: ECDSA in DER, EdDSA and RSA as they are. */
export function signWith({ algorithm, privateKey }: TestCredential, data: Buffer, hash = 'sha256'): Buffer {
  return sign(algorithm === 'EdDSA' ? null : hash, data, privateKey);
}

function identity<Value>(value: Value): Value {
  return value;
}

function newKeyPair(algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

function coseKey({ algorithm, publicKey }: TestCredential): CborMap {
  const jwk = publicKey.export({ format: 'jwk' });
  const part = (value: string | undefined) => Buffer.from(value ?? '', 'base64url');
  const alg = [3, COSE_ALGORITHM[algorithm]] as const;
  if (algorithm === 'ES256') return { pairs: [[1, 2], alg, [-1, 1], [-2, part(jwk.x)], [-3, part(jwk.y)]] };
  if (algorithm === 'EdDSA') return { pairs: [[1, 1], alg, [-1, 6], [-2, part(jwk.x)]] };
  return { pairs: [[1, 3], alg, [-1, part(jwk.n)], [-2, part(jwk.e)]] };
}

function selfAttestation(credential: TestCredential, authData: Buffer, clientData: Buffer): CborMap {
  const sig = signWith(credential, Buffer.concat([authData, sha256(clientData)]));
  return {
    pairs: [
      ['alg', COSE_ALGORITHM[credential.algorithm]],
      ['sig', sig],
    ],
  };
}
