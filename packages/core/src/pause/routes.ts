// The pause of an account over HTTP.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pauseAccount, readRuntime, resumeAccount } from './pause-account.ts';

export type PauseRoute = DomainRoute<'pause'>;

export function pauseRoutes(context: CoreContext): HandlersOf<PauseRoute> {
  return {
    'runtime.read': async ({ caller }) => ({ status: 200, body: await readRuntime(context, caller.accountKey) }),
    'runtime.pause': async ({ caller }) => ({ status: 200, body: await pauseAccount(context, caller.accountKey) }),
    'runtime.resume': async ({ caller }) => ({ status: 200, body: await resumeAccount(context, caller.accountKey) }),
  };
}
