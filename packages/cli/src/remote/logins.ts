// Where `./platform login` keeps the tokens of other platforms: one file, readable by its owner alone.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { reasonOf, StartError, systemCode } from '@platform/core/start';
import * as z from 'zod';

const login = z.object({
  /** Of the platform, such as `https://cloud.example.org`. */
  origin: z.string(),
  token: z.string(),
  account: z.string(),
  expiresAt: z.string(),
});
export type Login = z.infer<typeof login>;

const kept = z.object({ logins: z.array(login) });

export function loginsFile(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment.XDG_CONFIG_HOME;
  // A relative one is to be ignored (XDG Base Directory Specification).
  const folder = base !== undefined && path.isAbsolute(base) ? base : path.join(homedir(), '.config');
  return path.join(folder, 'platform', 'logins.json');
}

/** @throws StartError `logins_unusable` when others may read the file, or it is not one of ours */
export function readLogins(file = loginsFile()): readonly Login[] {
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw unusable(
        file,
        'others can read it. Run: chmod 600 on it, and sign out what it holds in Settings → Command line.',
      );
    return kept.parse(JSON.parse(readFileSync(file, 'utf8'))).logins;
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (systemCode(error) === 'ENOENT') return [];
    throw unusable(file, `it cannot be read (${reasonOf(error)}).`);
  }
}

function unusable(file: string, why: string): StartError {
  return new StartError('logins_unusable', `The logins in ${file} are not used: ${why}`);
}

/** Adds a login, in place of a former one to the same platform. */
export function keepLogin(added: Login, file = loginsFile()): void {
  write([...readLogins(file).filter(({ origin }) => origin !== added.origin), added], file);
}

export function forgetLogin(origin: string, file = loginsFile()): void {
  const left = readLogins(file).filter((one) => one.origin !== origin);
  if (left.length > 0) write(left, file);
  else rmSync(file, { force: true });
}

/** Whole or not at all. */
function write(logins: readonly Login[], file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, `${JSON.stringify({ logins }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, file);
}
