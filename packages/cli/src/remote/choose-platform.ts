// Which platform a command is for: the one on this machine, or one that this user is signed in to.
import { existsSync } from 'node:fs';
import { StartError } from '@platform/core/start';
import { UsageError } from '../command.ts';
import { configuration } from '../local/configuration.ts';
import { originOf } from './address.ts';
import { type Login, readLogins } from './logins.ts';

/** For the usage of commands that take it. */
export const ON_OPTION = { on: { type: 'string' } } as const;

/**
 * @param named with `--on`; default: the platform on this machine, and without one the only login
 * @param as of the option `--as`, which is for the platform on this machine alone
 * @returns `null` for the platform on this machine
 * @throws StartError `not_signed_in`, or `which_platform` when there are several logins
 */
export function chooseLogin(named: string | undefined, as?: string): Login | null {
  const login = named === undefined ? usualLogin() : namedLogin(originOf(named));
  if (login !== null && as !== undefined)
    throw new UsageError(`--as is for the platform on this machine. ${login.origin} knows you as ${login.account}.`);
  return login;
}

function namedLogin(origin: string): Login {
  const login = readLogins().find((one) => one.origin === origin);
  if (login !== undefined) return login;
  throw new StartError('not_signed_in', `You are not signed in to ${origin}. Run: ./platform login ${origin}`);
}

function usualLogin(): Login | null {
  if (existsSync(configuration().masterKeyFile)) return null;
  const [login, other] = readLogins();
  if (login === undefined) return null;
  if (other === undefined) return login;
  throw new StartError(
    'which_platform',
    'You are signed in to several platforms. Choose one with --on <address>; ./platform whoami lists them.',
  );
}
