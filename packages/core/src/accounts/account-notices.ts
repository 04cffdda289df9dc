// What the operator should know about the accounts: at the start, in doctor, and in Fleet.
import type { CoreConfig } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { registrationOf } from '../settings/registration.ts';
import { isFormerName } from './deletion/deletion-queries.ts';
import { accountNameExists, isAnyAccount } from './registration/invitation-queries.ts';

/** Sentences; none when all is well. */
export async function accountNotices({
  database,
  config,
}: Pick<CoreContext, 'database'> & {
  readonly config: Pick<CoreConfig, 'masterAccount' | 'registration' | 'origin' | 'publishers'>;
}): Promise<string[]> {
  const { masterAccount: master, origin, publishers } = config;
  const registration = await registrationOf(config, database);
  const notices: string[] = [];
  const register = (name: string) =>
    registration === 'open'
      ? `Register it at ${origin}, or correct the name.`
      : `Invite it with \`./platform account invite --for ${name}\`, or correct the name.`;
  const masterIsMissing = master !== null && !(await accountNameExists(database, master));
  if (masterIsMissing)
    notices.push(
      (await isFormerName(database, master))
        ? `PLATFORM_MASTER_ACCOUNT is ${master}, but that account was deleted, and nobody gets its name again. Name another one.`
        : `PLATFORM_MASTER_ACCOUNT is ${master}, but there is no account of that name. ${register(master)}`,
    );
  for (const name of typeof publishers === 'string' ? [] : publishers)
    if (!(await accountNameExists(database, name)))
      notices.push(`PLATFORM_PUBLISHERS names ${name}, but there is no account of that name.`);
  if (registration !== 'open' && !masterIsMissing && !(await isAnyAccount(database)))
    notices.push('There is no account yet. `./platform account invite` prints a link that registers the first one.');
  return notices;
}
