// What the apps of an account offer: as they said last, and asked anew while they run, so that a change shows within a second.
// A backend that does not run is not started for a list, unless it was never asked in its version.
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { limits } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import type { CoreContext } from '../../context.ts';
import { notify } from '../../database/notify.ts';
import { type ServingRow, selectServing, storeOffer } from '../queries.ts';
import { withBackend } from './backend-session.ts';
import { type Offer, readTools } from './offer.ts';
import { readPrompts, readResources, readTemplates } from './offered-content.ts';

/** An app that offers something. */
export interface Serving extends ServingRow {
  readonly offer: Offer;
}

/** After which a running backend is asked again: before the next look of those who listen. */
const FRESH_MILLISECONDS = 900;
/** After which one that could not be asked is asked again. */
const FAILED_MILLISECONDS = 60_000;
/** After which one whose offer was another each time is asked again. */
const RESTLESS_MILLISECONDS = 30_000;
const RESTLESS_CHANGES = 5;
/** For so long a list waits for one app: for one that was asked before, and for one that was not. */
const LIST_MILLISECONDS = 2_000;
const FIRST_LIST_MILLISECONDS = 10_000;
const FIRST_MILLISECONDS = 30_000;
const AGAIN_MILLISECONDS = 5_000;
const PAGES = 20;
/** Of what one app offers, as it is kept; what is beyond is left out. */
const OFFER_BYTES = 2 * 1_024 * 1_024;
const ASKED_AT_ONCE = 4;

const listPage = z.looseObject({ nextCursor: z.string().optional() });

export class ServedTools {
  readonly #context: CoreContext;
  /** Until when a backend need not be asked, by installation and version. */
  readonly #fresh = new Map<string, number>();
  readonly #asking = new Map<string, Promise<Offer | null>>();
  /** How often in a row the offer was another, by installation and version. */
  readonly #changes = new LRUCache<string, number>({ max: 10_000 });

  constructor(context: CoreContext) {
    this.#context = context;
  }

  /**
   * By app id; without apps that were never asked with success. Of all apps, one that does not answer soon is listed as it said last:
   * it holds up nobody, and is announced when it has answered. @param appId only this one
   */
  async of(accountKey: string, appId?: string): Promise<Serving[]> {
    const rows = await selectServing(this.#context.database, accountKey, appId);
    const offers: (Offer | null)[] = [];
    for (let at = 0; at < rows.length; at += ASKED_AT_ONCE)
      offers.push(
        ...(await Promise.all(
          rows.slice(at, at + ASKED_AT_ONCE).map((row) => {
            const asked = this.#offerOf(accountKey, row);
            if (appId !== undefined) return asked;
            const patience = row.offer === null ? FIRST_LIST_MILLISECONDS : LIST_MILLISECONDS;
            return Promise.race([asked, wait(patience, null, { ref: false })]);
          }),
        )),
      );
    return rows.flatMap((row, index) => {
      const offer = offers[index] ?? row.offer;
      return offer === null ? [] : [{ ...row, offer }];
    });
  }

  /** It may offer something else now: the next reader asks it, unless it failed lately or changes each time. */
  doubt({ id, version }: Pick<ServingRow, 'id' | 'version'>): void {
    const key = `${id}@${version}`;
    const left = (this.#fresh.get(key) ?? 0) - performance.now();
    if (left <= FRESH_MILLISECONDS) this.#fresh.delete(key);
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
      // Most often it is what it was: then nothing of it goes to the database.
      const changed = !isDeepStrictEqual(offer, row.offer) && (await storeOffer(database, row, offer, clock()));
      if (changed) await notify(database, 'tools-changed', { accountKey });
      const changes = changed ? (this.#changes.get(key) ?? 0) + 1 : 0;
      this.#changes.set(key, changes);
      freshFor(changes > RESTLESS_CHANGES ? RESTLESS_MILLISECONDS : FRESH_MILLISECONDS);
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
  const { tools, resources, prompts, completions, logging } = client.getServerCapabilities() ?? {};
  const { toolsPerAccount, appContent } = limits;
  const listed = (method: ListMethod, member: string, most: number) =>
    pagesOf(client, signal, { method, member, most });
  let room = OFFER_BYTES;
  /** Those that fit, of all that it offers together. */
  const fitting = <Item extends object>(items: readonly Item[]): Item[] =>
    items.filter((item) => {
      room -= Buffer.byteLength(JSON.stringify(item));
      return room >= 0;
    });
  return {
    tools: tools === undefined ? [] : fitting(readTools(await listed('tools/list', 'tools', toolsPerAccount.value))),
    ...(resources === undefined
      ? {}
      : {
          resources: fitting(readResources(await beside(listed('resources/list', 'resources', appContent.value)))),
          templates: fitting(
            readTemplates(await beside(listed('resources/templates/list', 'resourceTemplates', appContent.value))),
          ),
        }),
    ...(prompts === undefined
      ? {}
      : { prompts: fitting(readPrompts(await beside(listed('prompts/list', 'prompts', appContent.value)))) }),
    ...(completions === undefined ? {} : { completions: true }),
    ...(logging === undefined ? {} : { logging: true }),
  };
}

type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';

async function pagesOf(
  client: Client,
  signal: AbortSignal,
  { method, member, most }: { readonly method: ListMethod; readonly member: string; readonly most: number },
): Promise<unknown[]> {
  const listed: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES && listed.length < most; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method, params }, listPage, { signal });
    const items = answer[member];
    if (!Array.isArray(items)) break;
    listed.push(...items);
    // One that leads back would do so for ever.
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) break;
    cursor = answer.nextCursor;
  }
  return listed;
}

/** What an app cannot list beside its tools is no reason to do without them. */
async function beside(listing: Promise<unknown[]>): Promise<unknown[]> {
  try {
    return await listing;
  } catch (error) {
    if (error instanceof ProtocolError) return [];
    throw error;
  }
}
