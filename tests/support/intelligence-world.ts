// A real core and real Gateways in front of the scripted provider, without sandboxes: what a workload would be given is
// given to the test.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { AppIntelligence, Assignment, Assignments, WorkloadStart } from '@platform/contract';
import { type GatewayOptions, type RunningGateway, startGateway } from '@platform/gateway';
import { newEnvelopeKey } from '@platform/link';
import { gatewayUrls, workloadEnvironment } from '../../packages/runtime/test-support/environment.ts';
import { registerAccount, type TestAccount } from './client.ts';
import { type Constellation, type ConstellationOptions, startConstellation } from './constellation.ts';
import { type InstalledTestApp, installTestApp } from './installed-app.ts';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';
import { until } from './wait.ts';

/** What no workload, log or answer may show. */
export const PROVIDER_KEY = 'sk-canary-platform-5d1f0c';

export interface IntelligenceApp {
  readonly app: InstalledTestApp;
  readonly gateway: RunningGateway;
  readonly port: number;
  readonly token: string;
  /** The variables of a workload of this app. */
  readonly environment: Readonly<Record<string, string>>;
  /** Everything its Gateway logged. */
  readonly events: readonly object[];
  usage(): Promise<AppIntelligence['usage']>;
  /** Resolves when every call is settled. */
  settled(): Promise<AppIntelligence['usage']>;
}

export interface GatewaySettings {
  readonly coreOrigin?: string;
  /** Default: those of the platform. */
  readonly services?: NonNullable<Parameters<typeof startGateway>[0]['services']>;
}

/** Of a Gateway, what another process can be given as well. */
export type StartedGateway = Omit<GatewayOptions, 'listen' | 'inbound' | 'onActivity' | 'log'>;

export interface WorldLimits {
  readonly requestsPerMinute?: number;
  readonly monthlyTokens?: number;
  readonly bodyMiB?: number;
  /** In place of one of each dialect. */
  readonly providers?: readonly object[];
}

/** Core with its file of providers; nothing is called yet. */
export interface IntelligenceCore {
  readonly core: Constellation;
  readonly account: TestAccount;
  readonly file: string;
  readonly folder: string;
  install(appId: string, resources: readonly string[]): Promise<InstalledTestApp>;
  /** A new start of the app's workload: what its Gateway is given. */
  start(app: InstalledTestApp): Promise<{ settings: StartedGateway; assignment: Assignment }>;
  close(): Promise<void>;
}

/** What answers the calls. */
interface SomeProvider {
  readonly origin: string;
  close(): Promise<void>;
}

export interface IntelligenceWorld<Provider extends SomeProvider = ScriptedProvider>
  extends Pick<IntelligenceCore, 'core' | 'account' | 'file'> {
  readonly provider: Provider;
  openApp(appId: string, resources: readonly string[]): Promise<IntelligenceApp>;
  /** Another Gateway for the app, as after a new start of its workload. */
  reopen(app: InstalledTestApp, more?: GatewaySettings): Promise<IntelligenceApp>;
  close(): Promise<void>;
}

/** @param provider origin of one that speaks both dialects */
export async function startIntelligenceCore(
  provider: string,
  limits: WorldLimits = {},
  options: ConstellationOptions = {},
): Promise<IntelligenceCore> {
  const folder = mkdtempSync(path.join(tmpdir(), 'intelligence-'));
  const file = path.join(folder, 'providers.json');
  writeFileSync(path.join(folder, 'key'), PROVIDER_KEY, { mode: 0o600 });
  const openai = {
    id: 'openai',
    baseUrl: `${provider}/v1`,
    dialect: 'openai',
    platformKeyFile: 'key',
    environment: { baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' },
  };
  const anthropic = {
    id: 'anthropic',
    baseUrl: provider,
    dialect: 'anthropic',
    platformKeyFile: 'key',
    environment: { baseUrl: 'ANTHROPIC_BASE_URL', apiKey: 'ANTHROPIC_API_KEY' },
  };
  writeFileSync(
    file,
    JSON.stringify({ providers: [openai, anthropic], requestsPerMinute: 10_000, monthlyTokens: 10_000_000, ...limits }),
  );
  const core = await startConstellation({ ...options, config: { intelligenceFile: file, ...options.config } });
  const account = await registerAccount(core, 'asker');
  return {
    core,
    account,
    file,
    folder,
    async install(appId, resources) {
      return installTestApp(core, account, appId, [{ id: 'intelligence.use', resources: [...resources] }]);
    },
    async start(app) {
      const node = { authorization: `Bearer ${core.core.localNode.nodeCredential}` };
      const { items } = (await app.call('/v1/node/assignments', { headers: node })).json as Assignments;
      const assignment = items.find(({ installationId }) => installationId === app.installationId);
      assert.ok(assignment !== undefined);
      const envelopeKey = await newEnvelopeKey();
      const started = await app.call(`/v1/node/installations/${app.installationId}/starts`, {
        headers: node,
        body: { envelopeKey: envelopeKey.publicKey },
      });
      const { coreServiceCredential } = started.json as WorkloadStart;
      const settings: StartedGateway = {
        installationId: app.installationId,
        appOrigin: app.origin,
        coreOrigin: `http://127.0.0.1:${core.port}`,
        coreHost: new URL(core.origin).host,
        gatewayCredential: `pgw_${app.appId.padEnd(43, 't').slice(0, 43)}`,
        coreServiceCredential,
        envelopeKey,
        policy: assignment.gateway,
      };
      return { settings, assignment };
    },
    async close() {
      await core.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function startIntelligenceWorld(
  limits: WorldLimits = {},
  options: ConstellationOptions = {},
): Promise<IntelligenceWorld> {
  return startIntelligenceWorldOf(await startScriptedProvider(), limits, options);
}

/** @param provider one that speaks both dialects; closed with the world */
export async function startIntelligenceWorldOf<Provider extends SomeProvider>(
  provider: Provider,
  limits: WorldLimits = {},
  options: ConstellationOptions = {},
): Promise<IntelligenceWorld<Provider>> {
  const world = await startIntelligenceCore(provider.origin, limits, options);
  const { core, account, file, folder } = world;
  const gateways: RunningGateway[] = [];

  async function reopen(app: InstalledTestApp, more: GatewaySettings = {}): Promise<IntelligenceApp> {
    const { settings, assignment } = await world.start(app);
    const token = settings.gatewayCredential;
    const events: object[] = [];
    const gateway = await startGateway({
      ...settings,
      ...more,
      listen: { host: '127.0.0.1', port: 0 },
      inbound: { socketPath: path.join(folder, 'no-workload-listens-here') },
      onActivity: () => undefined,
      log: (event) => void events.push(event),
    });
    gateways.push(gateway);
    const address = gateway.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const urls = Object.entries(gatewayUrls(assignment)).map(([name, at]) => [name, `http://127.0.0.1:${port}${at}`]);
    const inside = { volume: undefined, temporary: '/tmp', port: 8080 };
    const usage = async () => {
      const answer = await account.browser.take<AppIntelligence>(`/v1/apps/${app.appId}/intelligence`);
      return answer.usage;
    };
    return {
      app,
      gateway,
      port,
      token,
      events,
      environment: {
        ...workloadEnvironment({ assignment, gatewayCredential: token, appCapability: 'pdc_of-this-start', inside }),
        ...Object.fromEntries(urls),
      },
      usage,
      async settled() {
        await until('the settlement of all calls', async () => {
          // A call that can use no tokens holds none, and has its reservation all the same.
          const { rows } = await core.core.context.pool.query(
            'SELECT FROM intelligence_reservations WHERE installation_id = $1 AND NOT charged LIMIT 1',
            [app.installationId],
          );
          return rows.length === 0;
        });
        return usage();
      },
    };
  }

  return {
    core,
    account,
    provider,
    file,
    reopen,
    openApp: async (appId, resources) => reopen(await world.install(appId, resources)),
    async close() {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await world.close();
      await provider.close();
    },
  };
}
