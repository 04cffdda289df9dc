// The tools domain: the hub through which apps and connected clients use tools of the platform and of apps.
import { limits } from '@platform/contract';
import { everyItem, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { ValueChecks } from './check-values.ts';
import { deleteProposalsOf } from './proposals/proposal-queries.ts';
import { proposalRetention } from './proposals/retention.ts';
import { type ProposalRoute, proposalRoutes } from './proposals/routes.ts';
import { proposalTools } from './proposals/tools.ts';
import { listProposals, proposalOf } from './proposals/view.ts';
import { listToolCalls, toolCallRetention } from './record.ts';
import { type ToolRoute, toolRoutes } from './routes.ts';
import { ServedTools } from './served/served-tools.ts';
import { toolsOpened } from './tools-opened.ts';

export function toolDomain(context: CoreContext): Domain<ToolRoute | ProposalRoute> {
  const hub = { ...context, served: new ServedTools(context), checks: new ValueChecks() };
  const page = { limit: limits.pageMaximum.value };
  return {
    handlers: { ...toolRoutes(hub), ...proposalRoutes(hub) },
    workers: [toolCallRetention(context), proposalRetention(context)],
    tools: proposalTools,
    opens: toolsOpened(context),
    emits: [emission({ signal: 'proposals-changed', event: 'proposals', to: ['session'] })],
    installationEnded: (trx, id) => deleteProposalsOf(trx, id),
    async *filesOf({ accountKey }) {
      yield* jsonLines(
        'tool-calls',
        everyItem((cursor) => listToolCalls(context, accountKey, { ...page, cursor })),
      );
      yield* jsonLines(
        'tool-proposals',
        everyItem((cursor) =>
          listProposals(context, { reader: { accountKey }, query: { ...page, cursor }, of: proposalOf }),
        ),
      );
    },
  };
}
