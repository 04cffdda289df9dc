// A look at the pages of an app before it is accepted: for a while they have an origin of their own, where nothing but these files is, and
// no permission, no backend, no launch data. What a browser stores there is unreachable once it is over.
import { type DraftId, limits, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import { readPackagedFiles } from '../catalog/face.ts';
import { appOrigin } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { opaqueLabel } from '../credentials/ids.ts';
import { selectPreview, upsertPreview } from './made-queries.ts';
import { oneByOne } from './made-source.ts';
import { type OwnDraft, selectDraft, selectPackage } from './queries.ts';

export interface PreviewAddress {
  readonly origin: string;
  readonly url: string;
  readonly expiresAt: string;
}

/**
 * The address of the one before leads nowhere from now on.
 *
 * @throws RefusalError `not_found`, also for an app without pages; `proposal_conflict` for another package than was reviewed
 */
export async function previewDraft(context: CoreContext, own: OwnDraft, hash: string): Promise<PreviewAddress> {
  const { database, config, random } = context;
  const draft = await selectDraft(database, own);
  if (draft === undefined) throw refuse('not_found');
  if (draft.hash !== hash) throw refuse('proposal_conflict', 'This is not what was reviewed. Look at it again.');
  if (draft.manifest.frontend === undefined) throw refuse('not_found', 'It has no pages to look at.');
  const hostLabel = opaqueLabel(random);
  const expiresAt = new Date(own.now.getTime() + limits.draftPreviewSeconds.value * 1_000);
  await upsertPreview(database, {
    draft_id: own.id,
    host_label: hostLabel,
    app_id: draft.app_id,
    expires_at: expiresAt,
  });
  const origin = appOrigin(config, draft.app_id, hostLabel);
  return { origin, url: `${origin}/`, expiresAt: expiresAt.toISOString() };
}

/** The pages of a draft that somebody looks at. */
export interface Previewed {
  /** Entry document, relative to `frontend/`. */
  readonly entry: string;
  /** By their names below `frontend/`. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** Of all drafts that are looked at. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Finds the drafts that are looked at, by their hosts. */
export class Previews {
  readonly #context: CoreContext;
  /** A draft never changes. */
  readonly #files = new LRUCache<DraftId, ReadonlyMap<string, Buffer>>({
    maxSize: MOST_BYTES,
    sizeCalculation: (files) => [...files.values()].reduce((sum, bytes) => sum + bytes.length, 1),
  });

  constructor(context: CoreContext) {
    this.#context = context;
  }

  /** Asks the database each time: what was decided on is gone at once. */
  async find(host: { readonly appId: string; readonly hostLabel: string }): Promise<Previewed | null> {
    const { database, clock } = this.#context;
    const row = await selectPreview(database, { ...host, now: clock() });
    if (row === undefined || row.entry === null) return null;
    const files = this.#files.get(row.draft_id) ?? (await this.#read(row.draft_id));
    return files === null ? null : { entry: row.entry, files };
  }

  async #read(id: DraftId): Promise<ReadonlyMap<string, Buffer> | null> {
    const packed = await selectPackage(this.#context.database, id);
    if (packed === undefined) return null;
    const files = new Map<string, Buffer>();
    for (const { path, text } of await readPackagedFiles(oneByOne(packed)))
      if (path.startsWith('frontend/') && text !== null) files.set(path.slice('frontend/'.length), Buffer.from(text));
    this.#files.set(id, files);
    return files;
  }
}
