// A credential's JSON from its members. Extensions of password managers replace `navigator.credentials` and return objects of
// their own: some have no `toJSON`, or inherit one that throws, lack methods, have null where nothing should be, or bytes of
// another kind. So each member is read by itself, and what cannot be read is left out.

const CHUNK = 8_192;

function member(object: unknown, name: string): unknown {
  try {
    return (object as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    // A getter that the object inherits and is not made for.
    return undefined;
  }
}

function result(object: unknown, method: string): unknown {
  try {
    const called = member(object, method);
    return typeof called === 'function' ? called.call(object) : undefined;
  } catch {
    return undefined;
  }
}

/** The bytes of a buffer, also of another realm, a list of numbers, or base64url; `null` for anything else. */
export function bytesFrom(source: unknown): Uint8Array | null {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength).slice();
  if (Object.prototype.toString.call(source) === '[object ArrayBuffer]')
    return new Uint8Array(source as ArrayBuffer).slice();
  if (Array.isArray(source)) return Uint8Array.from(source);
  if (typeof source !== 'string') return null;
  try {
    const binary = atob(source.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** In base64url; `undefined` where there is nothing. */
function textOf(source: unknown): string | undefined {
  const bytes = bytesFrom(source);
  if (bytes === null || bytes.length === 0) return undefined;
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Whether it could be a passkey, whatever its prototype. */
export function isCredential(value: unknown): boolean {
  return typeof member(value, 'response') === 'object' && member(value, 'response') !== null;
}

/** What the client's extensions gave: an object in every case. */
export function extensionOutputs(credential: unknown): AuthenticationExtensionsClientOutputs {
  const outputs = result(credential, 'getClientExtensionResults') ?? member(credential, 'clientExtensionResults');
  return typeof outputs === 'object' && outputs !== null ? outputs : {};
}

/** The parts that every credential has, of the object or of its own JSON where it has one. */
function partsOf(credential: unknown) {
  const own = result(credential, 'toJSON');
  const response = member(credential, 'response');
  const ownResponse = member(own, 'response');
  const id = textOf(member(credential, 'rawId')) ?? textOf(member(credential, 'id')) ?? textOf(member(own, 'id'));
  const attachment = member(credential, 'authenticatorAttachment') ?? member(own, 'authenticatorAttachment');
  return {
    response,
    bytes: (name: string): string | undefined => textOf(member(response, name)) ?? textOf(member(ownResponse, name)),
    named: {
      id: required(id),
      rawId: required(id),
      type: 'public-key' as const,
      ...(typeof attachment === 'string' ? { authenticatorAttachment: attachment } : {}),
    },
  };
}

function required(text: string | undefined): string {
  if (text === undefined) throw new Error('A part of the passkey is missing.');
  return text;
}

/** Members that are texts, in the order of `getTransports`. */
function transportsOf(response: unknown): string[] {
  const listed = result(response, 'getTransports') ?? member(response, 'transports');
  if (!Array.isArray(listed)) return [];
  return listed.filter((one) => typeof one === 'string' && one.length <= 32).slice(0, 16);
}

/** @throws Error where the object lacks what a registration cannot do without */
export function registrationJson(credential: unknown): RegistrationResponseJSON {
  const { response, bytes, named } = partsOf(credential);
  const algorithm = result(response, 'getPublicKeyAlgorithm') ?? member(response, 'publicKeyAlgorithm');
  const authenticatorData = textOf(result(response, 'getAuthenticatorData')) ?? bytes('authenticatorData');
  const publicKey = textOf(result(response, 'getPublicKey')) ?? bytes('publicKey');
  const known = {
    clientDataJSON: required(bytes('clientDataJSON')),
    attestationObject: required(bytes('attestationObject')),
    transports: transportsOf(response),
    ...(authenticatorData === undefined ? {} : { authenticatorData }),
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(Number.isInteger(algorithm) ? { publicKeyAlgorithm: algorithm } : {}),
  };
  const clientExtensionResults = extensionOutputs(credential) as object as AuthenticationExtensionsClientOutputsJSON;
  return { ...named, response: known, clientExtensionResults } as RegistrationResponseJSON;
}

/** @throws Error where the object lacks what a sign-in cannot do without */
export function assertionJson(credential: unknown): AuthenticationResponseJSON {
  const { bytes, named } = partsOf(credential);
  const userHandle = bytes('userHandle');
  const response = {
    clientDataJSON: required(bytes('clientDataJSON')),
    authenticatorData: required(bytes('authenticatorData')),
    signature: required(bytes('signature')),
    ...(userHandle === undefined ? {} : { userHandle }),
  };
  const clientExtensionResults = extensionOutputs(credential) as object as AuthenticationExtensionsClientOutputsJSON;
  return { ...named, response, clientExtensionResults };
}
