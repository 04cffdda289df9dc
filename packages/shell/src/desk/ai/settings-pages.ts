// The page of Settings on AI models.
import type { SettingsPage } from '../settings/page.ts';

export const aiPage: SettingsPage<'ai'> = {
  path: 'ai',
  load: async () => (await import('./ai-page.tsx')).AiPage,
  menu: { icon: 'ai', label: 'AI', words: 'artificial intelligence models provider api key tokens budget limit' },
};
