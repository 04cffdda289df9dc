// The address book of the person, for clients of their own.
import { routes } from '@platform/contract';
import { type BuiltInTool, builtInTool } from '../built-in-tool.ts';

export const contactTools: readonly BuiltInTool[] = [
  builtInTool({
    name: 'platform-contacts.list',
    title: 'List contacts',
    description: 'The people whom this person knows, with their addresses.',
    route: 'account.contacts.list',
    effect: 'reads',
    for: 'own-clients',
    arguments: routes['account.contacts.list'].query,
    place: (query) => ({ query }),
  }),
];
