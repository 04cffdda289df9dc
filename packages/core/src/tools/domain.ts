// The tools domain: the hub through which apps use the tools of the platform and of each other.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { ValueChecks } from './check-values.ts';
import { toolCallRetention } from './record.ts';
import { type ToolRoute, toolRoutes } from './routes.ts';
import { ServedTools } from './served/served-tools.ts';

export function toolDomain(context: CoreContext): Domain<ToolRoute> {
  return {
    handlers: toolRoutes({ ...context, served: new ServedTools(context), checks: new ValueChecks() }),
    workers: [toolCallRetention(context)],
  };
}
