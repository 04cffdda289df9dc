// Where nodes behind NAT connect to an Ingress, by its own word; they learn it with their assignments.
import { refuse } from '@platform/contract';
import { readIrohAddress } from '@platform/link';
import type { CoreContext } from '../context.ts';
import { assignmentsChanged } from '../placement/face.ts';
import { publicKeyOf, setLink } from './ingress-queries.ts';

/** @throws RefusalError `invalid_request` for an address that is not the Ingress's own */
export async function keepLink(
  { database }: Pick<CoreContext, 'database'>,
  ingressId: string,
  link: string | undefined,
): Promise<void> {
  if (link !== undefined) {
    const address = readIrohAddress(link);
    const key = await publicKeyOf(database, ingressId);
    if (address?.service !== 'public' || key?.equals(address.key) !== true)
      throw refuse('invalid_request', 'The link is not the iroh address of this Ingress.', {
        errors: [{ path: 'link', message: "must be an iroh address with the Ingress's own key" }],
      });
  }
  await database.transaction().execute(async (trx) => {
    if (await setLink(trx, ingressId, link ?? null)) await assignmentsChanged(trx, null);
  });
}
