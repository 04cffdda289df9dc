// What the apps of an account offer: as they said last, and asked anew while they run, so that a change shows within two seconds.
// A backend that does not run is not started for a list, unless it was never asked in its version.
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { limits } from '@platform/contract';
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

/** After which a running backend is asked again. */
const FRESH_MILLISECONDS = 1_000;
/** After which one that could not be asked is asked again. */
const FAILED_MILLISECONDS = 30_000;
const FIRST_MILLISECONDS = 30_000;
const AGAIN_MILLISECONDS = 5_000;
const PAGES = 20;
const ASKED_AT_ONCE = 4;

const listPage = z.looseObject({ nextCursor: z.string().optional() });

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
  const { tools, resources, prompts, completions, logging } = client.getServerCapabilities() ?? {};
  const { toolsPerAccount, appContent } = limits;
  const listed = (method: ListMethod, member: string, most: number) =>
    pagesOf(client, signal, { method, member, most });
  return {
    tools: tools === undefined ? [] : readTools(await listed('tools/list', 'tools', toolsPerAccount.value)),
    ...(resources === undefined
      ? {}
      : {
          resources: readResources(await beside(listed('resources/list', 'resources', appContent.value))),
          templates: readTemplates(
            await beside(listed('resources/templates/list', 'resourceTemplates', appContent.value)),
          ),
        }),
    ...(prompts === undefined
      ? {}
      : { prompts: readPrompts(await beside(listed('prompts/list', 'prompts', appContent.value))) }),
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
