// The workflow domain: what survives of a run when the app, the Gateway, core or the database dies.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { workflowFiles } from './account-files.ts';
import { workflowHousekeeping } from './housekeeping.ts';
import { type WorkflowRoute, workflowRoutes } from './routes.ts';
import { abandonRuns } from './run-queries.ts';
import { workflowTools } from './tools.ts';

export function workflowDomain(context: CoreContext): Domain<WorkflowRoute> {
  return {
    handlers: workflowRoutes(context),
    workers: [workflowHousekeeping(context)],
    tools: workflowTools,
    filesOf: ({ accountKey }) => workflowFiles(context, accountKey),
    dataDeleted: (trx, id) => abandonRuns(trx, id, context.clock()),
    installationEnded: (trx, id) => abandonRuns(trx, id, context.clock()),
  };
}
