// The runs of an app's own workflows as tools.
import { routes, workflowsQuery } from '@platform/contract';
import { type BuiltInTool, builtInTool } from '../built-in-tool.ts';

export const workflowTools: readonly BuiltInTool[] = [
  builtInTool({
    name: 'platform-workflows.list',
    title: 'List workflow runs',
    description: 'The workflow runs of this app, the newest first.',
    route: 'services.workflows.list',
    effect: 'reads',
    for: 'apps',
    arguments: workflowsQuery,
    place: (query) => ({ query }),
  }),
  builtInTool({
    name: 'platform-workflows.get',
    title: 'Look at a workflow run',
    description: 'One workflow run of this app with its state and result.',
    route: 'services.workflows.read',
    effect: 'reads',
    for: 'apps',
    arguments: routes['services.workflows.read'].params,
    place: (params) => ({ params }),
  }),
];
