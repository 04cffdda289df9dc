// What workflows add to an export: the runs of each installed app, with inputs, results and what happened.
import { limits, type RouteQuery, type WorkflowRun } from '@platform/contract';
import { type AccountFile, everyItem, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { everyApp, ifInstalled } from '../installations/face.ts';
import { listRuns, readHistory } from './history.ts';

type Query = RouteQuery<'services.workflows.list'>;
type Installation = Parameters<typeof listRuns>[1];

export async function* workflowFiles(context: CoreContext, accountKey: string): AsyncGenerator<AccountFile> {
  for await (const { appId, id } of everyApp(context, accountKey))
    yield* jsonLines(`apps/${appId}/workflows`, everyRun(context, id));
}

async function* everyRun(context: CoreContext, installationId: Installation) {
  const page = (cursor: string | undefined): Query => ({ limit: limits.pageMaximum.value, cursor });
  const runs = everyItem((cursor) => listRuns(context, installationId, page(cursor)));
  for await (const run of runs) yield { ...run, history: await historyOf(context, installationId, run) };
}

/** Empty for a run that was deleted meanwhile. */
async function historyOf(context: CoreContext, installationId: Installation, { id: workflowId }: WorkflowRun) {
  const run = { installationId, workflowId };
  return await ifInstalled(async () => {
    const events = [];
    const all = everyItem((cursor) => readHistory(context, run, { limit: limits.pageMaximum.value, cursor }));
    for await (const event of all) events.push(event);
    return events;
  });
}
