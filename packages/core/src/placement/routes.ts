// The routes by which a Runtime polls its assignments, downloads packages, and gets the credentials of a start.
import { type DomainRoute, refuse } from '@platform/contract';
import { packageFile } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { awaitAssignments } from './assignments.ts';
import { isPackagePlaced } from './queries.ts';
import { sendPackage } from './send-package.ts';
import { startWorkload } from './start-workload.ts';

export type PlacementRoute = DomainRoute<'placement'>;

export function placementRoutes(context: CoreContext): HandlersOf<PlacementRoute> {
  return {
    'node.assignments': async (call) => {
      const { after } = call.query;
      await context.followers.confirm('assignments', call.caller.nodeId, after);
      return { status: 200, body: await awaitAssignments(context, call, after) };
    },
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
