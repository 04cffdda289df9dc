// Passkeys that several browsers share, as a password manager synchronises them: real Chromium asks them through
// `navigator.credentials`, and they give PRF results as the kind of authenticator does. Chromium's own virtual authenticator cannot be
// copied with its PRF.
import type { BrowserContext } from 'playwright-core';
import { prfOutput, type SoftwareAuthenticator, type TestCredential } from '../support/software-authenticator.ts';

/** When its passkeys give PRF results: also at their creation, only at a sign-in, or never. */
export type PrfKind = 'at once' | 'later' | 'none';

export interface SoftPasskeys {
  readonly authenticator: SoftwareAuthenticator;
  /** Of passkeys that are created from now on. */
  prf: PrfKind;
  /** The passkey that the person picks where several fit. Default: the newest. */
  picked: TestCredential | undefined;
  /** Every PRF result that a page got, for sweeps. */
  readonly given: Buffer[];
  readonly kinds: Map<TestCredential, PrfKind>;
  /** How often a page asked for a passkey. */
  ceremonies: number;
}

export function softPasskeys(authenticator: SoftwareAuthenticator, prf: PrfKind = 'later'): SoftPasskeys {
  return { authenticator, prf, picked: undefined, given: [], kinds: new Map(), ceremonies: 0 };
}

interface Asked {
  readonly challenge: string;
  readonly user?: { readonly id: string };
  readonly pubKeyCredParams?: readonly { readonly alg: number }[];
  readonly allowCredentials: readonly { readonly id: string }[];
  readonly first?: string;
  readonly second?: string;
}

/** Every page of the context asks these. */
export async function useSoftPasskeys(context: BrowserContext, passkeys: SoftPasskeys): Promise<void> {
  await context.exposeFunction('softPasskey', (what: 'create' | 'get', asked: Asked) => answer(passkeys, what, asked));
  await context.addInitScript(replaceCredentials);
}

function answer(passkeys: SoftPasskeys, what: 'create' | 'get', asked: Asked) {
  passkeys.ceremonies += 1;
  const { authenticator, kinds } = passkeys;
  const { user, pubKeyCredParams = [], challenge } = asked;
  if (what === 'create') {
    if (user === undefined) throw new Error('a creation names no user');
    const made = authenticator.create({ publicKey: { challenge, user, pubKeyCredParams, excludeCredentials: [] } });
    const credential = authenticator.credentials.at(-1);
    if (credential !== undefined) kinds.set(credential, passkeys.prf);
    return { ...made, prf: outputs(passkeys, credential, asked, 'create') };
  }
  const allowed = asked.allowCredentials.map(({ id }) => id);
  const fits = ({ id }: TestCredential) => allowed.length === 0 || allowed.includes(id.toString('base64url'));
  const { picked } = passkeys;
  const credential = picked !== undefined && fits(picked) ? picked : authenticator.credentials.findLast(fits);
  if (credential === undefined) return null;
  const used = authenticator.get({ publicKey: { challenge } }, {}, credential);
  return { ...used, prf: outputs(passkeys, credential, asked, 'get') };
}

function outputs(
  { kinds, given }: SoftPasskeys,
  credential: TestCredential | undefined,
  { first, second }: Asked,
  what: 'create' | 'get',
) {
  const kind = (credential && kinds.get(credential)) ?? 'later';
  if (credential === undefined || kind === 'none') return null;
  if (first === undefined || (what === 'create' && kind === 'later')) return { enabled: true };
  const [one, other] = [first, second].map((input) => {
    if (input === undefined) return undefined;
    const result = prfOutput(credential.credRandom, Buffer.from(input, 'base64url'));
    given.push(result);
    return result.toString('base64url');
  });
  return { ...(what === 'create' ? { enabled: true } : {}), results: { first: one, second: other } };
}

/** In the page. */
function replaceCredentials(): void {
  interface Answered {
    readonly id: string;
    readonly response: Readonly<Record<string, string>>;
    readonly prf: {
      readonly enabled?: boolean;
      readonly results?: Readonly<Record<string, string | undefined>>;
    } | null;
  }
  const ask = (globalThis as unknown as { softPasskey(what: string, asked: object): Promise<Answered | null> })
    .softPasskey;
  const bytesOf = (text: string) => {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0)).buffer;
  };
  const textOf = (source: BufferSource | undefined) => {
    if (source === undefined) return undefined;
    const view = ArrayBuffer.isView(source) ? new Uint8Array(source.buffer) : new Uint8Array(source as ArrayBuffer);
    return btoa(String.fromCharCode(...view))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  };
  // Each stands for an authenticator of its own, so none excludes another.
  const idsOf = (list: readonly PublicKeyCredentialDescriptor[] = []) => list.map(({ id }) => ({ id: textOf(id) }));
  for (const what of ['create', 'get'] as const) {
    const replaced = async ({ publicKey }: { readonly publicKey: PublicKeyCredentialCreationOptions }) => {
      const { allowCredentials } = publicKey as unknown as PublicKeyCredentialRequestOptions;
      const inputs = publicKey.extensions?.prf?.eval;
      const answered = await ask(what, {
        challenge: textOf(publicKey.challenge),
        ...(what === 'create' && {
          user: { id: textOf(publicKey.user.id) },
          pubKeyCredParams: publicKey.pubKeyCredParams.map(({ alg }) => ({ alg })),
        }),
        allowCredentials: idsOf(allowCredentials),
        first: textOf(inputs?.first),
        second: textOf(inputs?.second),
      });
      if (answered === null) throw new DOMException('no passkey', 'NotAllowedError');
      const response = Object.fromEntries(
        Object.entries(answered.response)
          .filter(([, value]) => typeof value === 'string')
          .map(([name, value]) => [name, bytesOf(value)]),
      );
      const { first, second } = answered.prf?.results ?? {};
      const results = {
        ...(first !== undefined && { first: bytesOf(first) }),
        ...(second !== undefined && { second: bytesOf(second) }),
      };
      const prf = answered.prf === null ? {} : { ...answered.prf, ...(first === undefined ? {} : { results }) };
      return {
        id: answered.id,
        rawId: bytesOf(answered.id),
        type: 'public-key',
        authenticatorAttachment: 'platform',
        response: { ...response, getTransports: () => ['internal'] },
        getClientExtensionResults: () => (answered.prf === null ? {} : { prf }),
      };
    };
    Object.defineProperty(navigator.credentials, what, { value: replaced });
  }
}

/** Adds every private key that a page of the context imports or exports, hexadecimal. */
export async function watchPrivateKeys(context: BrowserContext, seen: Set<string>): Promise<void> {
  await context.exposeFunction('privateKey', (hex: string) => void seen.add(hex));
  await context.addInitScript(tellPrivateKeys);
}

/** In the page: what goes into WebCrypto or comes out of it as a private key. */
function tellPrivateKeys(): void {
  const { subtle } = crypto;
  const tell = (bytes: Uint8Array) => {
    const hex = [...bytes.slice(-32)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    (globalThis as unknown as { privateKey(hex: string): void }).privateKey(hex);
  };
  const importKey = subtle.importKey.bind(subtle) as (...args: unknown[]) => Promise<CryptoKey>;
  const exportKey = subtle.exportKey.bind(subtle) as (...args: unknown[]) => Promise<ArrayBuffer>;
  Object.assign(subtle, {
    importKey(format: string, bytes: Uint8Array, ...more: unknown[]) {
      if (format === 'pkcs8') tell(new Uint8Array(bytes));
      return importKey(format, bytes, ...more);
    },
    async exportKey(format: string, key: CryptoKey) {
      const bytes = await exportKey(format, key);
      if (format === 'pkcs8') tell(new Uint8Array(bytes));
      return bytes;
    },
  });
}
