// Decides what becomes of a well-formed request from the workload: the credential first, then whether a service is
// there (specification 5.3). Everything that is not a service does not exist. Refusals are paced.
import type { Refusal } from '@platform/contract';
import { type Abandonable, hold, type IncomingRequest, type Pace, sendProblem } from '@platform/http';
import type { Activity } from './activity.ts';
import { bearerOf, credentialCheck } from './credential.ts';
import type { ServiceRegistry } from './services/registry.ts';

/** Paths that specification 4.9 gives without the version. */
const WORKFLOW_ALIAS = '/services/workflows';

export interface RouterOptions {
  readonly gatewayCredential: string;
  readonly services: ServiceRegistry;
  readonly activity: Activity;
  /** Of all refusals to the workload. */
  readonly pace: Pace;
}

/** Returns the function that takes each accepted request; it gives `null` for one that it has answered itself. */
export function createRouter(options: RouterOptions): (incoming: IncomingRequest) => Abandonable | null {
  const isCredential = credentialCheck(options.gatewayCredential);
  return (incoming) => {
    const { res, head, path } = incoming;
    const canonical = path === WORKFLOW_ALIAS || path.startsWith(`${WORKFLOW_ALIAS}/`) ? `/v1${path}` : path;
    const service = options.services.find(canonical);
    const refuse = (refusal: Refusal): Abandonable | null =>
      hold(options.pace.next(), () => void (service?.refuse ?? sendProblem)(res, refusal));
    if (!isCredential((service?.presented ?? bearerOf)(head))) return refuse({ code: 'unauthenticated' });
    if (options.activity.out.isOverLimit()) return refuse({ code: 'concurrency_limited', retryAfter: 1 });
    if (service === null) return refuse({ code: 'not_found' });
    return service.handle(canonical === path ? incoming : { ...incoming, path: canonical });
  };
}
