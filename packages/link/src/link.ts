// The authenticated connection between parts on different machines: each side is known by its Ed25519 key and by nothing
// else. Read this file first; key.ts holds the keys, connect.ts chooses what carries a connection: carriers/tls is TLS
// 1.3 to a machine that is reached directly, carriers/iroh is QUIC over UDP, which also reaches machines behind NAT.
// open-connections.ts has the limits of both. core-connection.ts is what a part calls core with, credentials.ts how it
// proves itself there. envelope.ts seals a secret for one key.
export {
  type IrohAddress,
  irohAddressText,
  isIrohAddress,
  isRelayUrl,
  readIrohAddress,
} from './carriers/iroh/address.ts';
export { IrohEndpoint, type IrohOptions, type IrohService, type KeptLink } from './carriers/iroh/endpoint.ts';
export { type AcceptOptions, acceptLinks, type LinkListener } from './carriers/tls/accept.ts';
export type { LinkCertificate } from './carriers/tls/certificate.ts';
export { linkCertificate } from './carriers/tls/own-certificate.ts';
export { httpOrigin, type LinkTarget, linkConnector, probeLink } from './connect.ts';
export { type CoreCall, type CoreConnection, CoreError, openCoreConnection } from './core-connection.ts';
export { type Credentials, openCredentials, type Proof, RemovedError } from './credentials.ts';
export { isUsablePoint } from './edwards-point.ts';
export { type EnvelopeContext, type EnvelopeKey, EnvelopeOpener, newEnvelopeKey, sealEnvelope } from './envelope.ts';
export { WrongKeyError } from './errors.ts';
export { fetchOverLink, type LinkRequest } from './fetch.ts';
export type { Pace } from './gathered-body.ts';
export {
  keyFromSeed,
  type LinkKey,
  loadKey,
  loadOrMakeKey,
  publicKeyText,
  readPublicKey,
  signText,
  verifyText,
} from './key.ts';
export type { LinkLimits } from './open-connections.ts';
export { type LinkPeer, linkPeer } from './peer.ts';
