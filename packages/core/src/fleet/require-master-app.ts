// Which apps may see the whole platform: those installed by the master account that no other account can change, which
// are the apps it published itself and the system apps.
import { refuse } from '@platform/contract';
import { isMaster } from '../accounts/face.ts';
import { findOwner } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';

/** @throws RefusalError `master_account_only`, whatever grants the caller holds */
export async function requireMasterApp(
  context: CoreContext,
  caller: { readonly accountKey: string; readonly accountName: string; readonly appId: string },
): Promise<void> {
  if (!(await isMaster(context, caller.accountName))) throw refuse('master_account_only');
  const owner = await findOwner(context.database, caller.appId);
  // Another publisher could put into the next version of its app whatever it likes.
  if (owner === undefined || !(owner.system || owner.ownerKey === caller.accountKey))
    throw refuse(
      'master_account_only',
      'Only an app that the master account published itself, or one that comes with the platform, may do this.',
    );
}
