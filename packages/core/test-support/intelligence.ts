// Files of AI providers for tests, and the Gateway's side of core's routes about calls.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { AuthorizedIntelligence, WorkloadStart } from '@platform/contract';
import { EnvelopeOpener, newEnvelopeKey } from '@platform/link';
import type { TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../tests/support/installed-app.ts';
import type { RawAnswer } from '../../../tests/support/raw-http.ts';

export { chargeOne } from '../src/intelligence/overdue-calls.ts';

export const PLATFORM_KEY = 'sk-platform-canary-7f3a';

export interface ProvidersFile {
  readonly file: string;
  write(content: unknown): void;
  remove(): void;
}

/** A folder with the file and one key, `key`. */
export function providersFile(content: unknown): ProvidersFile {
  const folder = mkdtempSync(path.join(tmpdir(), 'providers-'));
  const file = path.join(folder, 'providers.json');
  writeFileSync(path.join(folder, 'key'), `${PLATFORM_KEY}\n`, { mode: 0o600 });
  const write = (next: unknown) => writeFileSync(file, typeof next === 'string' ? next : JSON.stringify(next));
  write(content);
  return { file, write, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface GatewaySide {
  readonly app: InstalledTestApp;
  authorize(call?: object): Promise<RawAnswer>;
  /** @throws AssertionError unless it was authorized */
  authorized(call?: object): Promise<AuthorizedIntelligence>;
  settle(reservation: string, used: object): Promise<void>;
  open(answer: AuthorizedIntelligence, provider: string): Promise<string>;
}

/** An installed app whose start had a key for envelopes. */
export async function gatewaySide(
  world: Constellation,
  account: TestAccount,
  appId: string,
  resources: readonly string[],
): Promise<GatewaySide> {
  const app = await installTestApp(world, account, appId, [{ id: 'intelligence.use', resources: [...resources] }]);
  const key = await newEnvelopeKey();
  const started = await app.call(`/v1/node/installations/${app.installationId}/starts`, {
    headers: { authorization: `Bearer ${world.core.localNode.nodeCredential}` },
    body: { envelopeKey: key.publicKey },
  });
  assert.equal(started.status, 200, started.text);
  const { coreServiceCredential } = started.json as WorkloadStart;
  const headers = { authorization: `Bearer ${coreServiceCredential}` };
  const opener = new EnvelopeOpener(key);
  const authorize = (call: object = {}) =>
    app.call('/v1/gateway/intelligence/authorize', {
      headers,
      body: {
        reservation: `res-${randomUUID()}`,
        provider: 'models',
        model: 'small',
        method: 'POST',
        path: 'chat/completions',
        bodyBytes: 300,
        outputLimit: 100,
        ...call,
      },
    });
  return {
    app,
    authorize,
    async authorized(call) {
      const answer = await authorize(call);
      assert.equal(answer.status, 200, answer.text);
      return answer.json as AuthorizedIntelligence;
    },
    async settle(reservation, used) {
      const answer = await app.call('/v1/gateway/intelligence/settle', { headers, body: { reservation, ...used } });
      assert.equal(answer.status, 204, answer.text);
    },
    async open({ envelope, baseUrl }, provider) {
      const context = {
        purpose: 'intelligence',
        installationId: app.installationId,
        bound: [provider, baseUrl],
      };
      return (await opener.open(context, envelope)).toString();
    },
  };
}
