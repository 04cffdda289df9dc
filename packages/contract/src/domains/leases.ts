// Work leases (specification 4.2; contract 4): how a workload says that it is not idle although nobody calls it.
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { timestamp, workLeaseId } from '../primitives.ts';
import { readableLine } from '../text.ts';
import { json, ofInstallation } from './common.ts';

const limits = {
  workLeaseShortestSeconds: { value: 15, unit: 'seconds', meaning: 'minimum duration of a work lease' },
  workLeaseLongestSeconds: {
    value: 300,
    unit: 'seconds',
    meaning: 'maximum duration of a work lease; it can be renewed',
  },
  workLeaseReason: { value: 200, unit: 'characters', meaning: 'reason of a work lease' },
  workLeases: { value: 64, unit: 'items', meaning: 'concurrent work leases of one installation' },
} as const satisfies Limits;

const durationSeconds = z.int().min(limits.workLeaseShortestSeconds.value).max(limits.workLeaseLongestSeconds.value);

export const createWorkLeaseBody = z.strictObject({
  durationSeconds,
  /** For the owner and the operator to read: one line. */
  reason: z
    .string()
    .min(1)
    .max(limits.workLeaseReason.value)
    .regex(...readableLine)
    .optional(),
});
export type CreateWorkLease = z.input<typeof createWorkLeaseBody>;

/** From now on; default is the duration the lease was created or last renewed with. */
export const renewWorkLeaseBody = z.strictObject({ durationSeconds: durationSeconds.optional() });

export const workLease = z.strictObject({ id: workLeaseId, expiresAt: timestamp });
export type WorkLease = z.infer<typeof workLease>;
export const workLeaseAnswer = z.strictObject({ lease: workLease });

/**
 * Answer of `GET /v1/node/installations/:id/leases`: milliseconds until the last work lease of the installation ends,
 * negative when it has ended, `null` when there was none. A duration, because clocks of two machines differ.
 */
export const workloadLeases = z.strictObject({ endInMilliseconds: z.int().nullable() });
export type WorkloadLeases = z.infer<typeof workloadLeases>;
const ofWorkLease = z.strictObject({ id: workLeaseId });

const routes = {
  'services.workLeases.create': {
    method: 'POST',
    path: '/v1/services/runtime/work-leases',
    summary: 'Keep the workload awake for a while',
    callers: ['installation'],
    body: json(createWorkLeaseBody),
    answers: { 201: workLeaseAnswer },
    rate: 'service',
  },
  'services.workLeases.renew': {
    method: 'POST',
    path: '/v1/services/runtime/work-leases/:id/renew',
    summary: 'Renew a work lease for its duration, from now',
    callers: ['installation'],
    params: ofWorkLease,
    body: json(renewWorkLeaseBody.optional()),
    answers: { 200: workLeaseAnswer },
    rate: 'service',
  },
  'services.workLeases.release': {
    method: 'DELETE',
    path: '/v1/services/runtime/work-leases/:id',
    summary: 'End a work lease',
    callers: ['installation'],
    params: ofWorkLease,
    answers: { 204: null },
    rate: 'service',
  },
  'node.leases': {
    method: 'GET',
    path: '/v1/node/installations/:id/leases',
    summary: 'Until when work leases keep a workload awake',
    callers: ['node'],
    params: ofInstallation,
    answers: { 200: workloadLeases },
    rate: 'none',
  },
} as const satisfies Routes;

export const leases = { limits, routes } as const;
