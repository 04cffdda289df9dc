// The configuration as the commands read it.
import { homedir } from 'node:os';
import { configurationVariables } from '@platform/contract';
import { type PlatformConfig, readConfiguration } from '@platform/core/config';
import { runningSettings } from './instance.ts';

/** From the environment of this process: of a platform that is about to start, and of a machine that joins one. */
export function configuration(environment: NodeJS.ProcessEnv = process.env): PlatformConfig {
  return readConfiguration(environment, { isRoot: process.getuid?.() === 0, home: homedir() });
}

/**
 * Of the platform of the data folder, for commands that work with it. While it runs, its settings are those that it was
 * started with, in another terminal or by a service manager, whatever this process's environment says; secret ones are
 * in that environment or nowhere.
 */
export function platformConfiguration(): PlatformConfig {
  const own = configuration();
  const running = runningSettings(own.dataDirectory);
  if (running === null) return own;
  const secret = Object.entries(process.env).filter(([name]) => !isOpenSetting(name));
  return configuration({ ...Object.fromEntries(secret), ...running, PLATFORM_DATA_DIR: own.dataDirectory });
}

/** The same for `doctor`, with which an operator tries settings before they restart: what this environment sets comes first. */
export function settingsToCheck(): PlatformConfig {
  const own = configuration();
  const set = Object.entries(process.env).filter(([, value]) => value !== undefined);
  return configuration({ ...runningSettings(own.dataDirectory), ...Object.fromEntries(set) });
}

function isOpenSetting(name: string): boolean {
  if (!Object.hasOwn(configurationVariables, name)) return false;
  return !('secret' in configurationVariables[name as keyof typeof configurationVariables]);
}
