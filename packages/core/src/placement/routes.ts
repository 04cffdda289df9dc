// The routes by which a Runtime polls its assignments, downloads packages, and gets the credentials of a start.
import { type DomainRoute, refuse } from '@platform/contract';
import { Turns } from '../background/turns.ts';
import { packageFile } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { awaitAssignments } from './assignments.ts';
import { isPackagePlaced } from './queries.ts';
import { sendPackage } from './send-package.ts';
import { startWorkload } from './start-workload.ts';

/** A node needs one; a few more may not have ended yet. Each reads all assignments of the node after each change of any. */
const POLLS = 16;
const PATIENCE_MILLISECONDS = 2_000;

export type PlacementRoute = DomainRoute<'placement'>;

export function placementRoutes(context: CoreContext): HandlersOf<PlacementRoute> {
  const polls = new Turns({
    ofKey: POLLS,
    waiting: POLLS,
    milliseconds: PATIENCE_MILLISECONDS,
    detail: `At most ${POLLS} requests of a node for its assignments may wait. Wait for one to be answered, then ask again.`,
  });
  return {
    'node.assignments': (call) =>
      polls.run(call.caller.nodeId, async () => {
        const { after } = call.query;
        await context.followers.confirm('assignments', call.caller.nodeId, after);
        return { status: 200, body: await awaitAssignments(context, call, after) };
      }),
    'node.starts': async ({ caller, params, body }) => ({
      status: 200,
      body: await startWorkload(context, caller.nodeId, params.id, body),
    }),
    'node.package': async ({ caller, params, reply }) => {
      if (!(await isPackagePlaced(context.database, caller.nodeId, params.hash))) throw refuse('not_found');
      await sendPackage(packageFile(context, params.hash), reply);
      return { streamed: true };
    },
  };
}
