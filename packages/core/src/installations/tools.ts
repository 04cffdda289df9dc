// What is installed, as a tool.
import { routes } from '@platform/contract';
import { type BuiltInTool, builtInTool } from '../built-in-tool.ts';

export const installationTools: readonly BuiltInTool[] = [
  builtInTool({
    name: 'platform-apps.list',
    title: 'List apps',
    description: 'The apps of this person that the caller may know of.',
    route: 'services.apps.list',
    effect: 'reads',
    arguments: routes['services.apps.list'].query,
    place: (query) => ({ query }),
  }),
];
