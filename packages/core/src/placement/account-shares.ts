// What one account may take of what the accounts of a platform share: memory that backends which never sleep reserve on a
// node, and public UDP ports. Disk is counted in ../disk.
import { type Grant, type RefusalError, refuse } from '@platform/contract';
import { lockAccount } from '../accounts/face.ts';
import type { CoreConfig } from '../config/config.ts';
import type { Executor } from '../database/schema.ts';
import type { Granted } from '../policy.ts';
import { networkPolicy } from './policy.ts';
import { selectDeclaredPorts } from './port-queries.ts';

export type ShareConfig = Pick<CoreConfig, 'masterAccount' | 'accountMemoryPercent' | 'accountUdpPorts'>;

/** The part of a node's memory that an account may reserve, as statements need it. */
export interface MemoryShare {
  readonly accountKey: string;
  readonly percent: number;
  /** Name of the account that may reserve all of it; `null` for the one that was named at the console. */
  readonly master: string | null;
}

export function memoryShareOf(config: ShareConfig, accountKey: string): MemoryShare {
  return { accountKey, percent: config.accountMemoryPercent, master: config.masterAccount };
}

export function memoryShareUsed({ accountMemoryPercent: percent }: ShareConfig): RefusalError {
  return refuse(
    'account_share',
    `Backends of one account that never sleep may reserve ${percent} % of the memory of a machine, and with this one yours would reserve more. Remove another such app, or choose a version that sleeps when it is not used.`,
  );
}

interface ChangedGrants extends Pick<Granted, 'manifest'> {
  readonly accountKey: string;
  readonly former: readonly Grant[];
  readonly next: readonly Grant[];
}

function countPorts(granted: Pick<Granted, 'grants' | 'manifest'>): number {
  return networkPolicy(granted).node.udpPorts.length;
}

/**
 * Makes sure that an account whose app is granted more public UDP ports than before stays within its share. Locks the account
 * until the transaction ends. Call it after the grants were written.
 *
 * @throws RefusalError `account_share`
 */
export async function requireUdpShare(
  trx: Executor,
  { config }: { readonly config: ShareConfig },
  { accountKey, manifest, former, next }: ChangedGrants,
): Promise<void> {
  if (countPorts({ manifest, grants: next }) <= countPorts({ manifest, grants: former })) return;
  await lockAccount(trx, { key: accountKey });
  const rows = await selectDeclaredPorts(trx, accountKey);
  const granted = rows.reduce((sum, row) => sum + countPorts(row), 0);
  if (granted > config.accountUdpPorts)
    throw refuse(
      'account_share',
      `The apps of one account may have ${config.accountUdpPorts} public UDP ports, and yours would have ${granted}. Revoke “Public UDP ports” of an app that no longer needs them, or remove it.`,
    );
}
