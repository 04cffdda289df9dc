// The tools domain: the hub through which apps and connected clients use tools of the platform and of apps.
import { limits } from '@platform/contract';
import { everyItem, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { ValueChecks } from './check-values.ts';
import { listToolCalls, toolCallRetention } from './record.ts';
import { type ToolRoute, toolRoutes } from './routes.ts';
import { ServedTools } from './served/served-tools.ts';

export function toolDomain(context: CoreContext): Domain<ToolRoute> {
  return {
    handlers: toolRoutes({ ...context, served: new ServedTools(context), checks: new ValueChecks() }),
    workers: [toolCallRetention(context)],
    filesOf: ({ accountKey }) =>
      jsonLines(
        'tool-calls',
        everyItem((cursor) => listToolCalls(context, accountKey, { limit: limits.pageMaximum.value, cursor })),
      ),
  };
}
