// The capabilities with which native clients reach this workload, or speak a protocol of its own.
import type { AppCapability } from '@platform/contract';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { callService } from './service-call.ts';

/** Another data-plane capability for this backend; the former ones keep their time. @throws PlatformError */
export function renewAppCapability(access: ServiceAccess, options?: CallOptions): Promise<AppCapability> {
  const path = '/v1/services/runtime/capability';
  return callService<'services.appCapability.renew'>(access, { method: 'POST', path }, options);
}

/** Whether a client of the backend's own protocol presented a valid capability; `false` for anything that is none. @throws PlatformError */
export async function verifyCapability(
  access: ServiceAccess,
  capability: string,
  options?: CallOptions,
): Promise<boolean> {
  // Clients present whatever they like.
  if (!/^pdc_[\w-]{43}$/.test(capability)) return false;
  const path = '/v1/services/runtime/capability/verify';
  const input = { method: 'POST', path, body: { capability }, repeatable: true } as const;
  return (await callService<'services.appCapability.verify'>(access, input, options)).valid;
}
