// Grants (specification 2.3, contract 3): what an installation may do, and on which resources.
import * as z from 'zod';
import { limits } from './limits.ts';
import { isPermissionId, type PermissionId } from './permissions.ts';

export const permissionId = z
  .string()
  .max(64)
  .refine(isPermissionId, 'is not a permission id of this platform')
  .transform((id) => id as PermissionId);

/** Exact by default; `*` alone or a trailing `*` is a wildcard; a `*` anywhere else is refused. */
export const resource = z
  .string()
  .min(1)
  .max(limits.grantResourceLength.value)
  .regex(/^[^*\p{Cc}\s]*\*?$/u, 'may hold `*` only as its last character, and no spaces');

export const grant = z.strictObject({
  id: permissionId,
  resources: z.array(resource).max(limits.grantResources.value),
});
export type Grant = z.infer<typeof grant>;

export const requestedGrant = grant.extend({
  resources: z.array(resource).min(1).max(limits.grantResources.value),
  /** Why the app asks, shown in the permission review. */
  reason: z.string().min(1).max(200).optional(),
});
export type RequestedGrant = z.infer<typeof requestedGrant>;

export const permissionsBody = z.strictObject({
  permissions: z.array(grant).max(limits.grantsPerInstallation.value),
});

export const permissionsView = z.strictObject({
  permissions: z.array(grant),
  requested: z.array(requestedGrant),
  /** Grows with every change of the grants. */
  revision: z.number().int(),
});
export type PermissionsView = z.infer<typeof permissionsView>;
