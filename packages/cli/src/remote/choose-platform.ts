// Which platform a command is for: the one on this machine, or one that this user is signed in to. All commands that can be for
// either choose it here, and say which it is wherever another one could be meant.
import { existsSync } from 'node:fs';
import { StartError } from '@platform/core/start';
import { UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { runningPid } from '../local/instance.ts';
import { complain, paint } from '../terminal/terminal.ts';
import { originOf } from './address.ts';
import { type Login, readLogins } from './logins.ts';

/** For the usage of commands that take it. */
export const ON_OPTION = { on: { type: 'string' } } as const;

/**
 * @param named with `--on`; default: the platform that runs on this machine, and without one the newest login
 * @param as of the option `--as`, which is for the platform on this machine alone
 * @returns `null` for the platform on this machine
 * @throws StartError `not_signed_in` where a platform was named
 */
export function choosePlatform(named: string | undefined, as?: string): Login | null {
  const local = localPlatform();
  const login = named === undefined ? usualPlatform(local, as) : namedPlatform(originOf(named), local);
  if (login !== null && as !== undefined)
    throw new UsageError(`--as is for the platform on this machine. ${login.origin} knows you as ${login.account}.`);
  return login;
}

export interface LocalPlatform {
  readonly origin: string;
  readonly state: 'runs' | 'stopped' | 'none';
}

/** The one of the data folder. */
export function localPlatform(): LocalPlatform {
  const { origin, dataDirectory, masterKeyFile } = platformConfiguration();
  if (runningPid(dataDirectory) !== null) return { origin, state: 'runs' };
  return { origin, state: existsSync(masterKeyFile) ? 'stopped' : 'none' };
}

function namedPlatform(origin: string, local: LocalPlatform): Login | null {
  const login = readLogins().find((one) => one.origin === origin);
  if (login !== undefined) return login;
  if (origin === local.origin && local.state !== 'none') return null;
  throw new StartError('not_signed_in', `You are not signed in to ${origin}. Run: ./platform login ${origin}`);
}

function usualPlatform(local: LocalPlatform, as: string | undefined): Login | null {
  const logins = readLogins();
  const chosen = usualOf(local, logins, as);
  const others = logins.filter((one) => one !== chosen).map(({ origin }) => origin);
  if (chosen !== null && local.state !== 'none') others.unshift(`${local.origin} on this machine, which does not run`);
  if (others.length > 0 && as === undefined) {
    const which = chosen === null ? `the platform on this machine, ${local.origin}` : chosen.origin;
    complain(
      paint('dim', `This is for ${which}. --on <address> chooses another: ${others.join(', ')}`, process.stderr),
    );
  }
  return chosen;
}

/** What a command is for that names no platform. */
export function usualOf(local: LocalPlatform, logins: readonly Login[], as?: string): Login | null {
  if (local.state === 'runs' || (local.state === 'stopped' && as !== undefined)) return null;
  return logins.at(-1) ?? null;
}
