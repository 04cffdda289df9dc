// Work leases (specification 4.2; contract 4): how a workload says that it is not idle although nobody calls it.
import * as z from 'zod';
import { limits } from './limits.ts';
import { timestamp, workLeaseId } from './primitives.ts';

const durationSeconds = z.int().min(limits.workLeaseShortestSeconds.value).max(limits.workLeaseLongestSeconds.value);

export const createWorkLeaseBody = z.strictObject({
  durationSeconds,
  /** For the owner and the operator to read: one line. */
  reason: z
    .string()
    .min(1)
    .max(limits.workLeaseReason.value)
    .regex(/^[^\p{Cc}\u202A-\u202E\u2066-\u2069]*$/u, 'must be one line without control characters')
    .optional(),
});
export type CreateWorkLease = z.input<typeof createWorkLeaseBody>;

/** From now on; default is the duration the lease was created or last renewed with. */
export const renewWorkLeaseBody = z.strictObject({ durationSeconds: durationSeconds.optional() });

export const workLease = z.strictObject({ id: workLeaseId, expiresAt: timestamp });
export type WorkLease = z.infer<typeof workLease>;
export const workLeaseAnswer = z.strictObject({ lease: workLease });
