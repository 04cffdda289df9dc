// What leaves the browser after a passkey ceremony: the members of WebAuthn's JSON form that core verifies, picked one
// by one. A PRF result is a secret of this device (specification 5.1.4) and is not among them.
import type { RouteBodyInput } from '@platform/contract';

type Registration = RouteBodyInput<'auth.register.verify'>['credential'];
type Assertion = RouteBodyInput<'auth.login.verify'>['credential'];

/** The extension outputs that say something about the credential and nothing about its secrets. */
function publicExtensions(outputs: AuthenticationExtensionsClientOutputsJSON): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  const { rk } = outputs.credProps ?? {};
  const { enabled } = outputs.prf ?? {};
  if (typeof rk === 'boolean') kept.credProps = { rk };
  if (typeof enabled === 'boolean') kept.prf = { enabled };
  return kept;
}

function attachment(value: string | undefined): 'platform' | 'cross-platform' | undefined {
  return value === 'platform' || value === 'cross-platform' ? value : undefined;
}

function identity(json: { id: string; rawId: string; authenticatorAttachment?: string | undefined }) {
  const kind = attachment(json.authenticatorAttachment);
  return {
    id: json.id,
    rawId: json.rawId,
    type: 'public-key' as const,
    ...(kind === undefined ? {} : { authenticatorAttachment: kind }),
  };
}

/** Removes the PRF results of a credential's JSON in place, unless an extension has frozen them: nothing sends them anyhow. */
export function removePrfResults(json: { clientExtensionResults: AuthenticationExtensionsClientOutputsJSON }): void {
  const { prf } = json.clientExtensionResults;
  if (typeof prf === 'object' && prf !== null) Reflect.deleteProperty(prf, 'results');
}

export function publicRegistration(json: RegistrationResponseJSON): Registration {
  removePrfResults(json);
  const { response } = json;
  return {
    ...identity(json),
    response: {
      clientDataJSON: response.clientDataJSON,
      attestationObject: response.attestationObject,
      authenticatorData: response.authenticatorData,
      transports: response.transports,
      publicKeyAlgorithm: response.publicKeyAlgorithm,
      ...(response.publicKey === undefined ? {} : { publicKey: response.publicKey }),
    },
    clientExtensionResults: publicExtensions(json.clientExtensionResults),
  };
}

export function publicAssertion(json: AuthenticationResponseJSON): Assertion {
  removePrfResults(json);
  const { response } = json;
  return {
    ...identity(json),
    response: {
      clientDataJSON: response.clientDataJSON,
      authenticatorData: response.authenticatorData,
      signature: response.signature,
      ...(response.userHandle === undefined ? {} : { userHandle: response.userHandle }),
    },
    clientExtensionResults: publicExtensions(json.clientExtensionResults),
  };
}
