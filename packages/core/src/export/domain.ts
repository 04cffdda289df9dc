// The export domain: everything core has of an account as one archive. What there is, the other domains say.
import type { DomainRoute } from '@platform/contract';
import { ceremonyRefused } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { exportAccount } from './export-account.ts';
import { ExportPlaces } from './export-places.ts';

export function exportDomain(context: CoreContext): Domain<DomainRoute<'accountExport'>> {
  const places = new ExportPlaces();
  return {
    handlers: {
      'account.export': async ({ caller, body, request, reply, stillAllowed }) => {
        const refused = (fault: Parameters<typeof ceremonyRefused>[3]) =>
          ceremonyRefused(context.log, request, 'export-account', fault);
        await exportAccount(context, places, { caller, ...body, refused, reply, stillAllowed });
        return { streamed: true };
      },
    },
  };
}
