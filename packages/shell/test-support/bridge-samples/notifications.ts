import { ID } from '../methods-world.ts';
import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'notifications'> = {
  'notifications.list': [{}, { topic: 'news', unread: true, limit: 10, cursor: '0' }],
  'notifications.read': [{ id: ID }],
  'notifications.readAll': [{}],
  'notifications.settings': [{}],
  'notifications.mute': [{ appId: 'notes', topic: 'news', muted: true }],
  'notifications.surfaces': [{ flashes: true, system: true, webPush: true }],
};
