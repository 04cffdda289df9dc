// Pages of Settings on the workflow runs of an app: all of them, and one.
import type { SettingsPage } from '../settings/page.ts';

export const runsPage: SettingsPage<'apps/:appId/workflows'> = {
  path: 'apps/:appId/workflows',
  load: async () => (await import('./runs-page.tsx')).RunsPage,
};

export const runPage: SettingsPage<'apps/:appId/workflows/:workflowId'> = {
  path: 'apps/:appId/workflows/:workflowId',
  where: { workflowId: /^wf-[0-9a-f-]{36}$/ },
  load: async () => (await import('./run-page.tsx')).RunPage,
};
