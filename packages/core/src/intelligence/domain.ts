// The intelligence domain: AI providers of the operator, keys of accounts, budgets of apps, and the calls of Gateways.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { overdueCalls } from './overdue-calls.ts';
import { type IntelligenceRoute, intelligenceRoutes } from './routes.ts';

export function intelligenceDomain(context: CoreContext): Domain<IntelligenceRoute> {
  return { handlers: intelligenceRoutes(context), workers: [overdueCalls(context)] };
}
