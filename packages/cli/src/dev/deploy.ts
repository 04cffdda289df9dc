// The present state of a folder as a package: a version of its own, of an app beside the published one.
import * as path from 'node:path';
import { devId, devVersion, type Manifest } from '@platform/contract';
import { planPackage, type SdkFiles } from '../packaging/plan-package.ts';
import { readManifest } from '../packaging/read-manifest.ts';
import { writePackage } from '../packaging/write-package.ts';

/**
 * @param scratch a folder for packages in the making
 * @throws PackageProblem when the folder is not a package
 */
export async function packState(
  folder: string,
  { scratch, sdk }: { readonly scratch: string; readonly sdk: SdkFiles },
): Promise<{ readonly manifest: Manifest; readonly file: string }> {
  const { manifest: base } = await readManifest(folder);
  const change = {
    id: devId(base.id),
    name: `${base.name.slice(0, 54)} (dev)`,
    version: devVersion(base.version, new Date()),
    // What is tried out is nobody else's to install.
    visibility: 'private',
  } as const;
  const plan = await planPackage({ folder, change, sdk });
  const { path: file } = await writePackage(plan, path.join(scratch, 'package.tgz'));
  return { manifest: plan.manifest, file };
}
