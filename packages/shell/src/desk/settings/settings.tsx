// The shell's own settings pages: what must not be drawn by any app.
import { addressOf } from '../../address/view.ts';
import { Icon } from '../../design/icons.tsx';
import type { FoundPage } from './find-page.ts';
import type { DrawPage } from './page.ts';
import { MENU_PAGES } from './pages.ts';

interface SettingsProps {
  readonly found: FoundPage;
  /** Draws what was found, with its parameters. */
  readonly Page: DrawPage<FoundPage['params']>;
}

export function Settings({ found, Page }: SettingsProps) {
  const [area] = found.path.split('/');
  return (
    <div class="settings">
      <nav class="settings-nav" aria-label="Settings">
        <p class="settings-title">Settings</p>
        <ul>
          {MENU_PAGES.map(({ path, icon, label }) => (
            <li key={path}>
              <a href={addressOf({ kind: 'settings', path })} aria-current={area === path ? 'page' : undefined}>
                <Icon name={icon} />
                <span>{label}</span>
              </a>
            </li>
          ))}
        </ul>
        <p class="settings-trust">
          <Icon name="shield" size={16} />
          <span>Part of the platform: no app can see or change these pages.</span>
        </p>
      </nav>
      <div class="settings-page">
        <Page key={found.path} {...found.params} />
      </div>
    </div>
  );
}
