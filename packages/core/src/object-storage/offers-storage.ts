// Whether the platform offers its object store to a backend, besides the grant (contract 4c).
import type { Refusal } from '@platform/contract';
import { storeOrigin as originOfStore } from '@platform/http/s3';
import { type Plan, planOf } from '../accounts/face.ts';
import type { CoreConfig } from '../config/config.ts';
import { hostingOf } from '../placement/face.ts';
import type { Settings } from '../settings/settings.ts';

/** What it depends on besides the grant. */
export interface Entitlement {
  /** Of the account; `null` where the operator set none. */
  readonly plan: Plan | null;
  /** Of the node on which it runs. */
  readonly labels: readonly string[] | null;
}

/** Where Gateways reach the store: with the bucket before the host where it stands there. `null` without a store. */
export function storeOrigin({ objectStore }: Pick<CoreConfig, 'objectStore'>): string | null {
  return objectStore === null ? null : originOfStore(objectStore).origin;
}

/** Why an installation gets no object storage, whatever it is granted; `null` when nothing is against it. */
export function whyNoStorage(
  { objectStore }: Pick<CoreConfig, 'objectStore'>,
  settings: Pick<Settings, 'defaultPlan'>,
  { plan, labels }: Entitlement,
): Refusal | null {
  if (objectStore === null)
    return { code: 'unavailable', detail: 'This platform has no object store. Its operator can configure one.' };
  if (planOf(settings, plan) !== 'paid')
    return {
      code: 'plan_required',
      detail: 'Object storage needs the paid plan. The operator of this platform sets the plan of an account.',
    };
  if (hostingOf(labels) !== 'platform-hosted')
    return { code: 'placement_not_allowed', detail: 'Object storage is offered on nodes of the platform only.' };
  return null;
}
