// What the operator should know about the accounts: at the start, in doctor, and in Fleet.
import type { CoreConfig } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { accountNameExists, isAnyAccount } from './invitation-queries.ts';

/** Sentences; none when all is well. */
export async function accountNotices({
  database,
  config,
}: Pick<CoreContext, 'database'> & {
  readonly config: Pick<CoreConfig, 'masterAccount' | 'registration' | 'origin'>;
}): Promise<string[]> {
  const { masterAccount: master, registration, origin } = config;
  const unknown = master !== null && !(await accountNameExists(database, master)) ? master : null;
  const nobody = registration !== 'open' && !(await isAnyAccount(database));
  const how =
    registration === 'open'
      ? `Register it at ${origin}, or correct the name.`
      : `Invite it with \`./platform account invite --for ${unknown}\`, or correct the name.`;
  return [
    ...(unknown === null
      ? []
      : [`PLATFORM_MASTER_ACCOUNT is ${unknown}, but there is no account of that name. ${how}`]),
    ...(nobody && unknown === null
      ? ['There is no account yet. `./platform account invite` prints a link that registers the first one.']
      : []),
  ];
}
