// Resolves an app host to its installation, cached until the installation changes, or to an app that a person tries before they accept
// it. While signals are not received, the cache is not used.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { clientNetwork, type InstallationId } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import { usableOrigin } from '../config/node-origin.ts';
import type { CoreContext } from '../context.ts';
import { type Previewed, Previews } from '../drafts/face.ts';
import { grantedOrigins } from '../grants/frontend-grants.ts';
import type { FailedLookups } from '../http/callers/failed-lookups.ts';
import { findByHost } from '../installations/face.ts';
import { type AppHeaders, appHeaders } from './app-headers.ts';

export interface FrontendHost {
  readonly installationId: InstallationId;
  readonly packageHash: string;
  /** Entry document, relative to `frontend/`. */
  readonly entry: string;
  readonly headers: AppHeaders;
  /** Differs whenever the headers do. */
  readonly headersTag: string;
}

interface AppHost {
  readonly appId: string;
  readonly hostLabel: string;
}

const HOSTS = 10_000;

export class FrontendHosts {
  readonly #context: CoreContext;
  readonly #hosts = new LRUCache<string, FrontendHost>({ max: HOSTS });
  readonly #failures: FailedLookups;
  readonly #previews: Previews;
  /** Grows with every forgetting, so that a look-up that began before cannot store what it found. */
  #generation = 0;

  constructor(context: CoreContext, failures: FailedLookups) {
    this.#context = context;
    this.#failures = failures;
    this.#previews = new Previews(context);
    context.signals.onReset(() => {
      this.#generation += 1;
      this.#hosts.clear();
    });
    context.signals.on('installation-changed', ({ installationId }) => {
      this.#generation += 1;
      for (const [key, host] of this.#hosts.entries()) {
        if (host.installationId === installationId) this.#hosts.delete(key);
      }
    });
  }

  /**
   * `null` for a host that nothing has: never had, or has no more.
   *
   * @throws RefusalError `rate_limited` where the client named too many of these
   */
  async find({ appId, hostLabel }: AppHost, { socket }: IncomingMessage): Promise<FrontendHost | Previewed | null> {
    const { signals, config } = this.#context;
    const key = `${appId}--${hostLabel}`;
    if (signals.connected) {
      const known = this.#hosts.get(key);
      if (known !== undefined) return known;
    }
    const generation = this.#generation;
    const look = async () => (await this.#look(appId, hostLabel)) ?? this.#previews.find({ appId, hostLabel });
    // Behind proxies, which limit their clients themselves, all clients have few addresses.
    const found =
      config.trustedProxies.length > 0
        ? await look()
        : await this.#failures.look(clientNetwork(socket.remoteAddress ?? ''), look);
    if (found === null || 'files' in found) return found;
    if (signals.connected && generation === this.#generation) this.#hosts.set(key, found);
    return found;
  }

  async #look(appId: string, hostLabel: string): Promise<FrontendHost | null> {
    const { pool, config } = this.#context;
    const row = await findByHost(pool, hostLabel, appId);
    if (row === undefined) return null;
    const nodeOrigin = row.has_workload ? usableOrigin(this.#context, row) : null;
    const headers = appHeaders(config, grantedOrigins(row.frontend.csp, row.grants), nodeOrigin);
    return {
      installationId: row.id,
      packageHash: row.package_hash,
      entry: row.frontend.entry,
      headers,
      headersTag: createHash('sha256').update(JSON.stringify(headers)).digest('base64url'),
    };
  }
}
