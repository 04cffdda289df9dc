// The accounts domain: passkeys, sessions, and signing in.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { type AccountRoute, accountRoutes } from './routes.ts';
import { surplusChallenges } from './surplus-challenges.ts';

export function accountDomain(context: CoreContext): Domain<AccountRoute> {
  return { handlers: accountRoutes(context), workers: [surplusChallenges(context)] };
}
