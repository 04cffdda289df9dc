// `platform dev` on this machine: through core's own functions, asking for permissions in the terminal.
import { createReadStream, existsSync } from 'node:fs';
import { type Grant, limits, type Manifest } from '@platform/contract';
import {
  type CoreContext,
  developApp,
  type NamedAccount,
  newRequests,
  publishPackage,
  selectOwn,
  unmetOf,
} from '@platform/core/operator';
import { StartError } from '@platform/core/start';
import { followLogs } from '../apps/follow-logs.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { runningPid } from '../local/instance.ts';
import { chooseAccount, withLocalCore } from '../local/local-core.ts';
import { requireRunning } from '../local/require-running.ts';
import { askForGrants } from './grants.ts';
import type { DevPlatform, DevTarget } from './target.ts';

interface LocalOptions {
  /** Default: the only account there is. */
  readonly accountName: string | undefined;
  /** Without asking: everything that the manifest requests. */
  readonly grantAll: boolean;
}

export function localPlatform({ accountName, grantAll }: LocalOptions): DevPlatform {
  const { dataDirectory } = platformConfiguration();
  let { origin } = platformConfiguration();
  /** After a restart it may have other settings. */
  const config = () => {
    const now = platformConfiguration();
    if (runningPid(dataDirectory) !== null) origin = now.origin;
    return now;
  };
  return {
    origin: () => origin,
    life: () => String(runningPid(dataDirectory)),
    async require() {
      await requireRunning(config()).catch((error: unknown) => {
        // While it is being restarted it is waited for, as later on.
        if (!(error instanceof StartError) || error.code === 'platform_not_running') throw error;
      });
    },
    async answers() {
      if (!existsSync(dataDirectory))
        throw new StartError('data_folder_gone', `The data folder ${dataDirectory} is gone, and the platform with it.`);
      try {
        await requireRunning(config());
        // Core answers before all of the platform runs.
        return runningPid(dataDirectory) !== null;
      } catch (error) {
        if (error instanceof StartError) return false;
        throw error;
      }
    },
    use: (work) =>
      withLocalCore(
        config(),
        async (context) => work(targetOf(context, await chooseAccount(context, accountName), grantAll)),
        { besideRunning: true },
      ),
  };
}

function targetOf(context: CoreContext, account: NamedAccount, grantAll: boolean): DevTarget {
  async function grantsFor(manifest: Manifest, until: AbortSignal): Promise<readonly Grant[]> {
    if (grantAll) return manifest.permissions.map(({ id, resources }) => ({ id, resources }));
    const asked = await newRequests(context, account.key, manifest);
    return asked.length > 0 && (await askForGrants(manifest, asked, until)) ? asked : [];
  }

  return {
    origin: context.config.origin,
    account: account.name,
    async deploy(manifest, file, until) {
      const grants = await grantsFor(manifest, until);
      const release = { appId: manifest.id, version: manifest.version };
      const source = createReadStream(file);
      await publishPackage(context, { ...release, publisher: account.key, source }).finally(() => source.destroy());
      return developApp(context, account, release, grants);
    },
    unmet: ({ id: appId, version }) => unmetOf(context, account, { appId, version }),
    async followLogs(appId, since, ending) {
      const installation = await selectOwn(context.database, account.key, appId);
      if (installation === undefined) return;
      await followLogs((start, until) => context.nodes.followLogs(installation.id, start, until), {
        since,
        newest: limits.workloadLogLines.value,
        signal: ending,
      });
    },
  };
}
