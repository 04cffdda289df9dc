// The account menu: who is signed in, the trusted settings, light or dark, sign out.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { go } from '../../address/view.ts';
import { plainMessage } from '../../api/api-error.ts';
import { Icon, type IconName } from '../../design/icons.tsx';
import { chooseTheme, type ThemeChoice, themeChoice } from '../../design/theme.ts';
import { askToPause } from '../prompts/pause-review.tsx';
import { signOutOrAsk } from '../prompts/sign-out-review.tsx';
import { MENU_PAGES } from '../settings/pages.ts';
import { showToast } from '../toasts/toasts.ts';

const THEMES: readonly { readonly choice: ThemeChoice; readonly icon: IconName; readonly label: string }[] = [
  { choice: 'auto', icon: 'auto', label: 'Auto' },
  { choice: 'light', icon: 'sun', label: 'Light' },
  { choice: 'dark', icon: 'moon', label: 'Dark' },
];

export function AccountButton({ name }: { readonly name: string }) {
  const panel = useRef<HTMLElement>(null);
  const leaving = useSignal(false);

  function show(path: string): void {
    panel.current?.hidePopover();
    go({ kind: 'settings', path });
  }

  function pause(): void {
    panel.current?.hidePopover();
    void askToPause(null);
  }

  async function leave(): Promise<void> {
    panel.current?.hidePopover();
    leaving.value = true;
    try {
      await signOutOrAsk();
    } catch (error) {
      showToast({ title: 'You are still signed in', body: plainMessage(error), tone: 'danger', urgent: true });
    } finally {
      leaving.value = false;
    }
  }

  return (
    <>
      <button
        type="button"
        class="bar-button account"
        popovertarget="account-menu"
        aria-label={`Account ${name}`}
        title={name}
      >
        <span class="initial" aria-hidden="true">
          {name[0]?.toUpperCase()}
        </span>
      </button>
      <section id="account-menu" ref={panel} class="panel account-panel" popover="auto" aria-label="Account">
        <p class="account-name">
          <span class="initial large" aria-hidden="true">
            {name[0]?.toUpperCase()}
          </span>
          <span>
            <strong>{name}</strong>
            <span class="quiet-text">Signed in with a passkey</span>
          </span>
        </p>
        <ul class="menu">
          {MENU_PAGES.map(({ path, icon, label }) => (
            <li key={path}>
              <button type="button" onClick={() => show(path)}>
                <Icon name={icon} />
                <span>{label}</span>
              </button>
            </li>
          ))}
        </ul>
        <ul class="menu">
          <li>
            <button type="button" onClick={pause}>
              <Icon name="pause" />
              <span>Pause everything</span>
            </button>
          </li>
        </ul>
        <fieldset class="segments">
          <legend class="only-read">Colours</legend>
          {THEMES.map(({ choice, icon, label }) => (
            <label key={choice}>
              <input
                type="radio"
                name="theme"
                checked={themeChoice.value === choice}
                onChange={() => chooseTheme(choice)}
              />
              <span>
                <Icon name={icon} size={18} />
                {label}
              </span>
            </label>
          ))}
        </fieldset>
        <ul class="menu">
          <li>
            <button type="button" aria-disabled={leaving.value} onClick={() => void leave()}>
              <Icon name="leave" />
              <span>{leaving.value ? 'Signing out …' : 'Sign out'}</span>
            </button>
          </li>
        </ul>
      </section>
    </>
  );
}
