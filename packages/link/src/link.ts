// The authenticated connection between parts on different machines: TLS 1.3 where each side is known by its Ed25519
// key and by nothing else. Read this file first; key.ts holds the keys, certificate.ts what TLS needs of them,
// accept.ts and connect.ts the two sides. core-connection.ts is what a part calls core with, credentials.ts how it proves
// itself there. envelope.ts seals a secret for one of them.
export {
  type AcceptOptions,
  acceptLinks,
  type LinkLimits,
  type LinkListener,
  type LinkPeer,
  linkPeer,
} from './accept.ts';
export type { LinkCertificate } from './certificate.ts';
export { type LinkTarget, linkConnector } from './connect.ts';
export { type CoreCall, type CoreConnection, CoreError, openCoreConnection } from './core-connection.ts';
export { type Credentials, openCredentials, type Proof, RemovedError } from './credentials.ts';
export { isUsablePoint } from './edwards-point.ts';
export { type EnvelopeContext, type EnvelopeKey, EnvelopeOpener, newEnvelopeKey, sealEnvelope } from './envelope.ts';
export { fetchOverLink, type LinkRequest, WrongKeyError } from './fetch.ts';
export { keyFromSeed, type LinkKey, loadOrMakeKey, publicKeyText, readPublicKey, signText, verifyText } from './key.ts';
export { linkCertificate } from './own-certificate.ts';
