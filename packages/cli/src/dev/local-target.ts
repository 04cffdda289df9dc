// `platform dev` on this machine: through core's own functions, asking for permissions in the terminal.
import { createReadStream } from 'node:fs';
import { type Grant, limits, type Manifest } from '@platform/contract';
import {
  type CoreContext,
  developApp,
  type NamedAccount,
  newRequests,
  publishPackage,
  selectOwn,
} from '@platform/core/operator';
import { followLogs } from '../apps/follow-logs.ts';
import { askForGrants } from './grants.ts';
import type { DevTarget } from './target.ts';

export interface LocalDevelopment {
  readonly context: CoreContext;
  readonly account: NamedAccount;
  /** Without asking: everything that the manifest requests. */
  readonly grantAll: boolean;
  readonly signal: AbortSignal;
}

export function localTarget({ context, account, grantAll, signal }: LocalDevelopment): DevTarget {
  async function grantsFor(manifest: Manifest): Promise<readonly Grant[]> {
    if (grantAll) return manifest.permissions.map(({ id, resources }) => ({ id, resources }));
    const asked = await newRequests(context, account.key, manifest);
    return asked.length > 0 && (await askForGrants(manifest, asked, signal)) ? asked : [];
  }

  return {
    origin: context.config.origin,
    account: account.name,
    async deploy(manifest, file) {
      const grants = await grantsFor(manifest);
      const release = { appId: manifest.id, version: manifest.version };
      const source = createReadStream(file);
      await publishPackage(context, { ...release, publisher: account.key, source }).finally(() => source.destroy());
      return (await developApp(context, account, release, grants)).missing;
    },
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
