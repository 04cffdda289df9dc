// The configuration as the commands read it: from this process's environment.
import { homedir } from 'node:os';
import { type PlatformConfig, readConfiguration } from '@platform/core/config';

export function configuration(): PlatformConfig {
  return readConfiguration(process.env, { isRoot: process.getuid?.() === 0, home: homedir() });
}
