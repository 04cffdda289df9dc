// Making an account the operator at the console: it becomes the master account, and gets Fleet.
import { nameMaster } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { ensureMasterApps } from '../installations/face.ts';

/**
 * Done again for the same account, it changes nothing. What ended between the two is made up for by the next start.
 *
 * @returns when the account was registered
 * @throws RefusalError as {@link nameMaster}
 */
export async function nameOperator(context: CoreContext, name: string): Promise<Date> {
  const registered = await nameMaster(context, name);
  await ensureMasterApps(context);
  return registered;
}
