// Core with an object store, and apps whose backends were given access to it.
import assert from 'node:assert/strict';
import { assignments } from '@platform/contract';
import type { CoreConfig } from '@platform/core';
import { deleteAccount } from '@platform/core/operator';
import { newEnvelopeKey } from '@platform/link';
import { bearer } from '../../packages/core/test-support/apps.ts';
import { registerAccount, type TestAccount } from './client.ts';
import { type Constellation, startConstellation } from './constellation.ts';
import { type InstalledTestApp, installTestApp } from './installed-app.ts';

type Store = NonNullable<CoreConfig['objectStore']>;

export interface Photographer {
  readonly account: TestAccount;
  readonly appId: string;
  readonly app: InstalledTestApp;
  /** Below which its objects lie. */
  readonly prefix: string;
}

export interface StorageWorld {
  readonly platform: Constellation;
  /** An account with an app whose backend has asked for the store. */
  photographer(name: string): Promise<Photographer>;
  deleteAccount(name: string): Promise<void>;
  /** Whether the node may run the backend. */
  isAssigned(owner: Photographer): Promise<boolean>;
  close(): Promise<void>;
}

const AUTHORIZE = '/v1/gateway/object-storage/authorize';

export async function startStorageWorld(objectStore: Store): Promise<StorageWorld> {
  const first = await startConstellation({ config: { objectStore, defaultPlan: 'paid' } });
  const replica = await first.replica();
  // The local node has one credential: that of the last start.
  const platform = { ...first, core: { ...first.core, localNode: replica.localNode } };
  const { publicKey: envelopeKey } = await newEnvelopeKey();
  const asNode = (path: string, body?: object) => bearer(platform, platform.core.localNode.nodeCredential, path, body);
  return {
    platform,
    async photographer(name) {
      const account = await registerAccount(platform, name);
      const appId = `photos-of-${name}`;
      const app = await installTestApp(platform, account, appId, [{ id: 'object-storage.raw', resources: ['self'] }]);
      const started = await asNode(`/v1/node/installations/${app.installationId}/starts`, { envelopeKey });
      const { coreServiceCredential } = started.json as { readonly coreServiceCredential: string };
      const answer = await bearer(platform, coreServiceCredential, AUTHORIZE, {});
      assert.equal(answer.status, 200, answer.text);
      const { prefix } = answer.json as { readonly prefix: string };
      return { account, appId, app, prefix };
    },
    async deleteAccount(name) {
      await deleteAccount(platform.core.context, { name });
    },
    async isAssigned({ app }) {
      const { items } = assignments.parse((await asNode('/v1/node/assignments')).json);
      return items.some(({ installationId }) => installationId === app.installationId);
    },
    close: () => platform.close(),
  };
}
