// The schedules of the person, for clients of their own.
import { routes } from '@platform/contract';
import { type BuiltInTool, builtInTool } from '../built-in-tool.ts';

export const scheduleTools: readonly BuiltInTool[] = [
  builtInTool({
    name: 'platform-schedules.list',
    title: 'List schedules',
    description: 'What this person has planned, with when it runs next.',
    route: 'services.schedules.list',
    effect: 'reads',
    for: 'own-clients',
    arguments: routes['services.schedules.list'].query,
    place: (query) => ({ query }),
  }),
];
