// The account that the operator names to look after the whole platform. Names never change and are never given twice.
import type { CoreContext } from '../context.ts';

/** Whether this is the name of the account that the operator made the master. */
export function isMaster({ config }: Pick<CoreContext, 'config'>, accountName: string): boolean {
  return config.masterAccount !== null && accountName === config.masterAccount;
}
