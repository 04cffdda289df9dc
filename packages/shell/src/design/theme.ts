// Light, dark, or as the device says. The choice stays in this browser.
import { computed, effect, signal } from '@preact/signals';

export type ThemeChoice = 'auto' | 'light' | 'dark';

const KEY = 'platform.theme';
const deviceDark = window.matchMedia('(prefers-color-scheme: dark)');

function stored(): ThemeChoice {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'auto';
}

export const themeChoice = signal<ThemeChoice>(stored());
const deviceIsDark = signal(deviceDark.matches);
deviceDark.addEventListener('change', () => {
  deviceIsDark.value = deviceDark.matches;
});

/** The theme in effect, which apps receive too. */
export const theme = computed<'light' | 'dark'>(() => {
  if (themeChoice.value !== 'auto') return themeChoice.value;
  return deviceIsDark.value ? 'dark' : 'light';
});

/** Frames take `prefers-color-scheme` from the color-scheme of the page around them, so apps follow without code. */
effect(() => {
  document.documentElement.dataset.theme = themeChoice.value;
});

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  if (choice === 'auto') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
}
