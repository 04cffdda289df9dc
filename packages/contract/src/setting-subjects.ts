// What a person confirms who changes a setting or a provider in Fleet: core and the shell name it alike.
import type { SettingName } from './domains/operator-settings.ts';

/** The setting, and its value from then on. */
export function subjectOfSetting(setting: SettingName, value: string | number | null): string {
  return `${setting}.${value ?? 'default'}`;
}

/** The provider, and where calls and keys go from then on. */
export function subjectOfProvider(provider: string, baseUrl: string): string {
  return `${provider}@${new URL(baseUrl).origin}`;
}
