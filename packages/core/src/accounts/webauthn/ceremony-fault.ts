// Why a passkey ceremony failed. The caller gets one answer for all of them; the reason is for the operator's log.
import { type RefusalError, refuse } from '@platform/contract';
import type { FastifyRequest } from 'fastify';
import type { Log } from '../../context.ts';

/** Names only: nothing a client sent ever becomes part of a reason. */
export type CeremonyFault =
  | 'challenge-unknown'
  | 'challenge-expired'
  | 'challenge-of-another-operation'
  | 'challenge-of-another-session'
  | 'challenge-of-another-subject'
  | 'challenge-differs'
  | 'assertion-used'
  | 'credential-id-malformed'
  | 'credential-id-differs'
  | 'credential-unknown'
  | 'credential-of-another-account'
  | 'credential-taken'
  | 'client-data-malformed'
  | 'type-differs'
  | 'origin-differs'
  | 'cross-origin'
  | 'authenticator-data-malformed'
  | 'rp-id-differs'
  | 'user-not-present'
  | 'user-not-verified'
  | 'backup-eligibility-changed'
  | 'backup-flags-contradict'
  | 'attestation-malformed'
  | 'attestation-wrong'
  | 'algorithm-not-offered'
  | 'public-key-malformed'
  | 'user-handle-differs'
  | 'assertion-malformed'
  | 'signature-wrong'
  | 'counter-not-greater'
  | 'passkey-changed-meanwhile'
  | 'enrolment-link-unusable';

/** Turns a fault into the one answer. */
export type Refused = (fault: CeremonyFault) => RefusalError;

/** Logs the reason and gives the one answer. */
export function ceremonyRefused(
  log: Log,
  request: Pick<FastifyRequest, 'id'>,
  operation: string,
  fault: CeremonyFault,
): RefusalError {
  log.info({ requestId: request.id, operation, fault }, 'a passkey ceremony was refused');
  return refuse('verification_failed');
}
