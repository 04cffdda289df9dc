// Compares every stored package, and what lies unpacked beside it, with what the database says of them. It reads each as a
// stream, and changes nothing.
import { sizeText } from '@platform/contract';
import { everyRow } from '../../account-files.ts';
import { reasonOf, systemCode } from '../../config/start-error.ts';
import type { CoreContext } from '../../context.ts';
import { frontendFolder, packageFile } from '../package-file.ts';
import { digestOfFolder, hashOfFile } from '../packages/frontend-digest.ts';
import { digestOfPackage } from '../packages/unpack-frontend.ts';
import { findStored, listStored, type StoredPackage } from './queries.ts';

/** One thing that is wrong with a stored package. */
export interface PackageFault {
  /** `<app> <version>` of those published with it. */
  readonly names: readonly string[];
  /** Where it lies. */
  readonly place: string;
  /** What is wrong: the package as it was uploaded, or only its unpacked files, which the next start unpacks again. */
  readonly of: 'package' | 'frontend';
  readonly found: string;
}

export interface PackageExamination {
  readonly packages: number;
  readonly bytes: number;
  readonly faults: readonly PackageFault[];
}

type Context = Pick<CoreContext, 'config' | 'database'>;

const PAGE = 100;

/** @param progress gets how many are done */
export async function examinePackages(
  context: Context,
  progress: (done: number) => void = () => undefined,
): Promise<PackageExamination> {
  const rows = everyRow((last: StoredPackage | undefined) =>
    listStored(context.database, { after: last?.hash ?? '', limit: PAGE }),
  );
  const faults: PackageFault[] = [];
  let [packages, bytes] = [0, 0];
  for await (const stored of rows) {
    progress(packages);
    const found = await faultsOf(context, stored);
    // It may have been deleted meanwhile.
    if (found.length > 0 && (await findStored(context.database, stored.hash)) !== undefined) faults.push(...found);
    packages += 1;
    bytes += stored.size;
  }
  return { packages, bytes, faults };
}

async function faultsOf(context: Context, stored: StoredPackage): Promise<PackageFault[]> {
  const { hash, names, hasFrontend } = stored;
  const [file, folder] = [packageFile(context, hash), frontendFolder(context, hash)];
  const faults: PackageFault[] = [];
  const packaged = await packageFault(file, stored);
  if (packaged !== null) faults.push({ names, place: file, of: 'package', found: packaged });
  const unpacked = hasFrontend ? await frontendFault({ file, folder, isWhole: packaged === null }, stored) : null;
  if (unpacked !== null) faults.push({ names, place: folder, of: 'frontend', found: unpacked });
  return faults;
}

async function packageFault(file: string, { hash, size }: StoredPackage): Promise<string | null> {
  try {
    const read = await hashOfFile(file);
    if (read.hash === hash) return null;
    return read.size === size
      ? 'altered: its hash is another one'
      : `altered: it has ${sizeText(read.size)} instead of ${sizeText(size)}`;
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? 'missing' : `unreadable (${reasonOf(error)})`;
  }
}

async function frontendFault(
  { file, folder, isWhole }: { readonly file: string; readonly folder: string; readonly isWhole: boolean },
  { frontendDigest }: StoredPackage,
): Promise<string | null> {
  try {
    const found = await digestOfFolder(folder);
    if (found === null) return 'missing';
    // Published by a former version, and not served since.
    const wanted = frontendDigest ?? (isWhole ? (await digestOfPackage(file)).digest : null);
    if (wanted === null) return 'not verifiable without its package';
    return found === wanted ? null : 'altered: it is not what was published';
  } catch (error) {
    return `unreadable (${reasonOf(error)})`;
  }
}
