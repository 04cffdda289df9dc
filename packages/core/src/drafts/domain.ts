// The drafts domain: apps that apps make, which are nothing until their person accepts them.
import { CheckPool, IconDrawer } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { draftFiles } from './account-files.ts';
import type { AppKit } from './app-kit.ts';
import { deleteDraftsOf } from './queries.ts';
import { type DraftRoute, draftRoutes } from './routes.ts';
import { draftSweep, pageErrorSweep } from './sweep.ts';
import { draftTools } from './tools.ts';

export function draftDomain(context: CoreContext, kit: AppKit): Domain<DraftRoute> {
  const checks = new CheckPool();
  const drawer = new IconDrawer();
  return {
    handlers: draftRoutes({ ...context, verify: checks.verify, drawer, kit }),
    workers: [checks, drawer, draftSweep(context), pageErrorSweep(context)],
    tools: draftTools,
    emits: [emission({ signal: 'drafts-changed', event: 'drafts', to: ['session'] })],
    // Whoever removes an app wants nothing of it any more.
    async installationEnded(trx, id) {
      const accountKey = await deleteDraftsOf(trx, id);
      if (accountKey !== undefined) await notify(trx, 'drafts-changed', { accountKey });
    },
    filesOf: ({ accountKey }) => draftFiles(context, accountKey),
  };
}
