// The page of Settings on tools.
import type { SettingsPage } from '../settings/page.ts';

export const toolsPage: SettingsPage<'tools'> = {
  path: 'tools',
  load: async () => (await import('./tools-page.tsx')).ToolsPage,
  menu: {
    icon: 'tool',
    label: 'Tools',
    words: 'mcp proposals approve approvals agents record calls',
  },
};
