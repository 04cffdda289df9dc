// What the apps of an account offer: as they said last, and asked anew while they run, so that a change shows within two seconds.
// A backend that does not run is not started for a list, unless it was never asked in its version.
import type { Client } from '@modelcontextprotocol/client';
import { limits } from '@platform/contract';
import * as z from 'zod';
import type { CoreContext } from '../../context.ts';
import { notify } from '../../database/notify.ts';
import { type ServingRow, selectServing, storeOffer } from '../queries.ts';
import { withBackend } from './backend-session.ts';
import { type Offer, readTools } from './offer.ts';

/** An app that offers something. */
export interface Serving extends ServingRow {
  readonly offer: Offer;
}

/** After which a running backend is asked again. */
const FRESH_MILLISECONDS = 1_000;
/** After which one that could not be asked is asked again. */
const FAILED_MILLISECONDS = 30_000;
const FIRST_MILLISECONDS = 30_000;
const AGAIN_MILLISECONDS = 5_000;
const PAGES = 20;
const ASKED_AT_ONCE = 4;

const listPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

export class ServedTools {
  readonly #context: CoreContext;
  /** Until when a backend need not be asked, by installation and version. */
  readonly #fresh = new Map<string, number>();
  readonly #asking = new Map<string, Promise<Offer | null>>();

  constructor(context: CoreContext) {
    this.#context = context;
  }

  /** By app id; without apps that were never asked with success. @param appId only this one */
  async of(accountKey: string, appId?: string): Promise<Serving[]> {
    const rows = await selectServing(this.#context.database, accountKey, appId);
    const offers: (Offer | null)[] = [];
    for (let at = 0; at < rows.length; at += ASKED_AT_ONCE)
      offers.push(
        ...(await Promise.all(rows.slice(at, at + ASKED_AT_ONCE).map((row) => this.#offerOf(accountKey, row)))),
      );
    return rows.flatMap((row, index) => {
      const offer = offers[index] ?? row.offer;
      return offer === null ? [] : [{ ...row, offer }];
    });
  }

  /** `null`: what is known stands. */
  async #offerOf(accountKey: string, row: ServingRow): Promise<Offer | null> {
    const key = `${row.id}@${row.version}`;
    const now = performance.now();
    if ((this.#fresh.get(key) ?? 0) > now) return null;
    const asking = this.#asking.get(key) ?? this.#ask(accountKey, row).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #ask(accountKey: string, row: ServingRow): Promise<Offer | null> {
    const { database, clock, log } = this.#context;
    const key = `${row.id}@${row.version}`;
    const freshFor = (milliseconds: number): void => {
      this.#fresh.set(key, performance.now() + milliseconds);
      if (this.#fresh.size > 10_000) this.#fresh.clear();
    };
    try {
      if (row.offer !== null && !(await this.#runs(row))) {
        freshFor(FRESH_MILLISECONDS);
        return null;
      }
      const signal = AbortSignal.timeout(row.offer === null ? FIRST_MILLISECONDS : AGAIN_MILLISECONDS);
      const offer = await withBackend(this.#context, row, { caller: null, signal }, (client, over) =>
        list(client, over),
      );
      if (await storeOffer(database, row, offer, clock())) await notify(database, 'tools-changed', { accountKey });
      freshFor(FRESH_MILLISECONDS);
      return offer;
    } catch (error) {
      log.info({ installationId: row.id, err: error }, 'the tools of an app could not be listed');
      freshFor(FAILED_MILLISECONDS);
      return null;
    }
  }

  async #runs({ id }: Pick<ServingRow, 'id'>): Promise<boolean> {
    const { state } = await this.#context.nodes.status(id);
    return state === 'running';
  }
}

async function list(client: Client, signal: AbortSignal): Promise<Offer> {
  const capabilities = client.getServerCapabilities() ?? {};
  const listed: unknown[] = [];
  let cursor: string | undefined;
  for (
    let page = 0;
    capabilities.tools !== undefined && page < PAGES && listed.length < limits.toolsPerAccount.value;
    page += 1
  ) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, listPage, { signal });
    listed.push(...tools);
    // One that leads back would do so for ever.
    if (nextCursor === undefined || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return { tools: readTools(listed) };
}
