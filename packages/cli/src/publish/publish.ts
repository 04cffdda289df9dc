// `platform publish`: a package gets into the catalog of the platform on this machine, in the name of an account.
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { type Manifest, publishAnswer, RefusalError, type UnmetNeed } from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { publishPackage, unmetOf } from '@platform/core/operator';
import { buildSdk } from '@platform/sdk/build';
import { type Command, UsageError, understood } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { chooseAccount, inWords, withLocalCore } from '../local/local-core.ts';
import { PackageProblem } from '../packaging/package-problem.ts';
import { planPackage } from '../packaging/plan-package.ts';
import { readPackagedManifest } from '../packaging/read-packaged-manifest.ts';
import { writePackage } from '../packaging/write-package.ts';
import { choosePlatform, ON_OPTION } from '../remote/choose-platform.ts';
import type { Login } from '../remote/logins.ts';
import { RemotePlatform } from '../remote/remote-platform.ts';
import { upload } from '../remote/upload.ts';
import { paint, say } from '../terminal/terminal.ts';
import { reportingProblems, warnOfMisfits } from './package.ts';
import { sayRating } from './rating.ts';
import { remoteUnmet, warnOfUnmet } from './unmet.ts';

export const publishCommand: Command = {
  summary: 'publish a package in the Store',
  usage: `Usage: ./platform publish [folder or package file] [--as <account> | --on <address>]

Publishes this folder, or the one named, as an account (default: the only account) of the platform on this machine, or with
--on of one that you signed in to with ./platform login. The first account to publish an app owns its
id, and a published version never changes: raise "version" in manifest.json for the next one.
On this machine it requires read access to the data folder (PLATFORM_DATA_DIR); the platform need not be running.`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({ args: [...args], allowPositionals: true, options: { as: { type: 'string' }, ...ON_OPTION } }),
    );
    const [source = '.', ...rest] = positionals;
    if (rest.length > 0) {
      throw new UsageError('Name one folder or package: ./platform publish <folder or package file>');
    }
    const login = choosePlatform(values.on, values.as);
    return reportingProblems(source, async () => {
      await withPackageFile(source, async (file) => {
        const manifest = await readPackagedManifest(file);
        requireAuthors(manifest);
        warnOfMisfits(manifest);
        const { published, account, unmet } =
          login === null
            ? await publishLocally({ config: platformConfiguration(), file, manifest, accountName: values.as })
            : await publishRemotely(login, file, manifest);
        const where = login === null ? '' : ` of ${login.origin}`;
        say(
          `${paint('green', '✓')} ${published.manifest.name} ${published.version} is in the Store${where}, by ${account}.`,
        );
        say(`  SHA-256   ${published.hash}`);
        sayRating(manifest);
        warnOfUnmet(published.manifest.name, unmet);
      });
    });
  },
};

/** What only the platform may publish is not uploaded first. */
function requireAuthors({ systemRoles = [] }: Manifest): void {
  if (systemRoles.length > 0)
    throw new PackageProblem(['manifest.json: `systemRoles` is only for apps that come with the platform.']);
}

interface Publication {
  readonly published: { readonly version: string; readonly hash: string; readonly manifest: Manifest };
  /** Name of the account. */
  readonly account: string;
  readonly unmet: readonly UnmetNeed[];
}

interface LocalPublication {
  readonly config: PlatformConfig;
  /** The package. */
  readonly file: string;
  readonly manifest: Manifest;
  /** Default: the only account there is. */
  readonly accountName: string | undefined;
}

/**
 * Publishes through core's own function, with every check that an upload meets.
 *
 * @throws StartError with core's refusal in words, such as `version_exists`
 */
async function publishLocally({ config, file, manifest, accountName }: LocalPublication): Promise<Publication> {
  const { id, version } = manifest;
  const { size } = await stat(file);
  return withLocalCore(config, async (context) => {
    const account = await chooseAccount(context, accountName);
    const source = createReadStream(file);
    try {
      const request = { appId: id, version, publisher: account.key, source, size };
      const published = await publishPackage(context, request);
      return { published, account: account.name, unmet: await unmetOf(context, account, { appId: id, version }) };
    } finally {
      source.destroy();
    }
  });
}

/** @throws StartError with the refusal in words */
async function publishRemotely(
  { origin, token, account }: Login,
  file: string,
  manifest: Manifest,
): Promise<Publication> {
  try {
    const remote = new RemotePlatform(origin, token);
    const published = remote.read(publishAnswer, await upload(remote, manifest, file));
    return { published, account, unmet: await remoteUnmet(remote, manifest) };
  } catch (error) {
    throw error instanceof RefusalError ? inWords(error) : error;
  }
}

/** Runs `work` with the package: the file itself, or one made of the folder for as long as the work takes. */
async function withPackageFile(source: string, work: (file: string) => Promise<void>): Promise<void> {
  const facts = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw new PackageProblem([error.code === 'ENOENT' ? 'It does not exist.' : `It cannot be read (${error.code}).`]);
  });
  if (!facts.isDirectory()) return work(source);
  const scratch = await mkdtemp(path.join(tmpdir(), 'platform-package-'));
  try {
    const plan = await planPackage({ folder: source, sdk: await buildSdk() });
    await work((await writePackage(plan, path.join(scratch, 'package.tgz'))).path);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
