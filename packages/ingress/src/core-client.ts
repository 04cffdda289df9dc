// The Ingress's side of its conversation with core: the topology, confirmations, and what it counted.
import type { Readable } from 'node:stream';
import {
  credentialProofText,
  type IngressReport,
  ingressCredential,
  limits,
  memberChallenge,
  TOPOLOGY_BEAT_MILLISECONDS,
} from '@platform/contract';
import { type LinkCertificate, type LinkKey, openCoreConnection, type Proof } from '@platform/link';

export interface CorePlace {
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  readonly coreOrigin: string;
  /** The key that core must prove over https; without it its certificate must be valid for `coreHost`. */
  readonly coreKey?: Buffer | undefined;
  /** Value of the Host header, e.g. `shell.platform.localhost:8787`. */
  readonly coreHost: string;
  /** Of this Ingress. */
  readonly key: LinkKey;
}

export interface CoreClient {
  /** The stream of the topology. It ends with an error after a silence that is too long. */
  topology(after: string | undefined, signal: AbortSignal): Promise<Readable>;
  applied(revision: string, signal: AbortSignal): Promise<void>;
  report(report: IngressReport, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Longer than the beat by what a busy core may be late. */
const SILENCE_MILLISECONDS = TOPOLOGY_BEAT_MILLISECONDS + 5_000;

const proof: Proof = {
  challengePath: '/v1/ingress/challenge',
  credentialPath: '/v1/ingress/credential',
  text: (coreHost, nonce) => credentialProofText(coreHost, nonce, 'ingress'),
  readNonce: (body) => memberChallenge.parse(body).nonce,
  readCredential: (body) => ingressCredential.parse(body).ingressCredential,
  seconds: limits.nodeCredentialSeconds.value,
};

export function createCoreClient(
  place: CorePlace,
  {
    certificate,
    uptime,
    link,
  }: {
    readonly certificate: LinkCertificate;
    readonly uptime: () => number;
    /** Iroh address at which nodes behind NAT connect to this Ingress. Default: none. */
    readonly link?: string | undefined;
  },
): CoreClient {
  const { call, close } = openCoreConnection({ ...place, certificate, proof, uptime });
  return {
    async topology(after, signal) {
      const query = new URLSearchParams({
        ...(after === undefined ? {} : { after }),
        ...(link === undefined ? {} : { link }),
      });
      return await call('GET', `/v1/ingress/topology?${query}`, { signal, timeout: SILENCE_MILLISECONDS });
    },
    async applied(revision, signal) {
      await (await call('POST', '/v1/ingress/applied', { body: { revision }, signal })).dump();
    },
    async report(body, signal) {
      await (await call('POST', '/v1/ingress/report', { body, signal })).dump();
    },
    close,
  };
}
