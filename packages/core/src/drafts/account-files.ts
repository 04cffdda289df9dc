// What an export has of apps that apps made: which they are, those that wait for their person, as packages, and the last errors of their
// pages. The versions that were accepted are among the published ones.
import { Readable } from 'node:stream';
import { type AccountFile, everyItem, jsonFile } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { selectAllErrors } from './made-queries.ts';
import { selectMade, selectPackage } from './queries.ts';
import { listDrafts } from './review-draft.ts';

const PAGE = 50;

export async function* draftFiles(context: CoreContext, accountKey: string): AsyncGenerator<AccountFile> {
  const rows = await selectMade(context.database, accountKey);
  const made = rows.map(({ app_id: appId, made_by: madeBy, created_at }) => ({
    ...{ appId, madeBy },
    createdAt: created_at.toISOString(),
  }));
  const waiting = [];
  for await (const draft of everyItem((cursor) => listDrafts(context, accountKey, { limit: PAGE, cursor }))) {
    const packed = await selectPackage(context.database, draft.id);
    // Decided on meanwhile.
    if (packed === undefined) continue;
    waiting.push(draft);
    yield { path: `made-apps/${draft.id}.tgz`, content: { bytes: packed.length, open: () => Readable.from([packed]) } };
  }
  const errors = (await selectAllErrors(context.database, accountKey)).map(
    ({ app_id: appId, report, last_at, ...row }) => ({
      ...{ appId, version: row.version, times: row.times, at: last_at.toISOString() },
      ...JSON.parse(report),
    }),
  );
  yield jsonFile('made-apps.json', { made, waiting, errors });
}
