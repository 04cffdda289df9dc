// What of a version cannot work here for an account, for authors on the command line. The shell asks the same of the offers.
import type { UnmetNeed } from '@platform/contract';
import { unmetNeeds } from '@platform/contract/unmet-needs';
import type { NamedAccount } from '../accounts/face.ts';
import { findOffered, needsOf } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { readOffers } from './read-offers.ts';

/** @throws RefusalError `not_found` for a version that the account does not see */
export async function unmetOf(
  context: CoreContext,
  account: NamedAccount,
  { appId, version }: { readonly appId: string; readonly version: string },
): Promise<UnmetNeed[]> {
  const { release } = await findOffered(context, account, appId, version);
  const offers = await readOffers(context, { accountKey: account.key, accountName: account.name });
  return unmetNeeds(needsOf(release.manifest), offers);
}
