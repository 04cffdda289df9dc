// Notifications as tools, within the topics that the caller was granted.
import { notificationQuery, publishNotificationBody } from '@platform/contract';
import { type BuiltInTool, builtInTool } from '../built-in-tool.ts';

export const notificationTools: readonly BuiltInTool[] = [
  builtInTool({
    name: 'platform-notifications.publish',
    title: 'Notify this person',
    description: 'Publishes a notification to this person on one of the granted topics.',
    route: 'services.notifications.publish',
    effect: 'changes',
    for: 'apps',
    arguments: publishNotificationBody,
    place: (body) => ({ body }),
  }),
  builtInTool({
    name: 'platform-notifications.list',
    title: 'List notifications',
    description: 'Notifications on the granted topics, the newest first.',
    route: 'services.notifications.list',
    effect: 'reads',
    arguments: notificationQuery,
    place: (query) => ({ query }),
  }),
];
