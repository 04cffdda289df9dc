// Decides what becomes of a well-formed request from the workload: the credential first, then whether a service is
// there (specification 5.3). Everything that is not a service does not exist.

import { sendProblem } from '@platform/http';
import type { Activity } from './activity.ts';
import { bearerCheck } from './credential.ts';
import { type Abandonable, canDiscardBody, type IncomingRequest } from './listener.ts';
import type { ServiceRegistry } from './services/registry.ts';

/** Paths that specification 4.9 gives without the version. */
const WORKFLOW_ALIAS = '/services/workflows';

export interface RouterOptions {
  readonly gatewayCredential: string;
  readonly services: ServiceRegistry;
  readonly activity: Activity;
}

/** Returns the function that takes each accepted request; it gives `null` for one that it has answered itself. */
export function createRouter(options: RouterOptions): (incoming: IncomingRequest) => Abandonable | null {
  const isAuthenticated = bearerCheck(options.gatewayCredential);
  return (incoming) => {
    const { res, head, path } = incoming;
    const after = canDiscardBody(head) ? 'keep-connection' : 'close-connection';
    if (!isAuthenticated(head.authorization)) {
      sendProblem(res, { code: 'unauthenticated' }, after);
      return null;
    }
    if (options.activity.out.isOverLimit()) {
      sendProblem(res, { code: 'concurrency_limited', retryAfter: 1 }, after);
      return null;
    }
    const canonical = path === WORKFLOW_ALIAS || path.startsWith(`${WORKFLOW_ALIAS}/`) ? `/v1${path}` : path;
    const service = options.services.find(canonical);
    if (service === null) {
      sendProblem(res, { code: 'not_found' }, after);
      return null;
    }
    return service.handle(canonical === path ? incoming : { ...incoming, path: canonical });
  };
}
