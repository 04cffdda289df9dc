// The account that the operator names to look after the whole platform. Names never change and are never given twice.
import type { CoreContext } from '../context.ts';

export function isMaster({ config }: Pick<CoreContext, 'config'>, accountName: string): boolean {
  return config.masterAccount !== null && accountName === config.masterAccount;
}
