// What the catalog adds to an export: the packages that the account published, as they were uploaded.
import type { AccountFile } from '../account-files.ts';
import { everyRow } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { packageBlobs } from './package-file.ts';
import { listOwnPackages, type OwnPackage } from './queries.ts';

const PAGE = 100;

export async function* packageFiles(context: CoreContext, accountKey: string): AsyncGenerator<AccountFile> {
  const packages = everyRow((last: OwnPackage | undefined) =>
    listOwnPackages(context.database, accountKey, { after: last ?? { appId: '', version: '' }, limit: PAGE }),
  );
  for await (const { appId, version, hash, bytes } of packages) {
    const open = () => packageBlobs(context).open(hash, bytes);
    yield { path: `published/${appId}/${version}.tgz`, content: { bytes, open } };
  }
}
