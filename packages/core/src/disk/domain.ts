// The disk domain: what each account takes of the disk, and its limit. It owns what nodes count of images; volumes are
// installations', packages the catalog's, and both ask here before they add to them.
import { jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { readAccountDisk } from './account-disk.ts';
import { type DiskRoute, diskRoutes } from './routes.ts';

export function diskDomain(context: CoreContext): Domain<DiskRoute> {
  return {
    handlers: diskRoutes(context),
    filesOf: async function* ({ accountKey }) {
      yield jsonFile('storage.json', await readAccountDisk(context, accountKey));
    },
  };
}
