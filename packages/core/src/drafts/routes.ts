// Apps that apps make over HTTP: handed in by apps, decided on in the shell.
import { appId, type DomainRoute } from '@platform/contract';
import { Turns } from '../background/turns.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { readLogs } from '../installations/face.ts';
import { acceptDraft, declineDraft } from './accept-draft.ts';
import { readSource } from './made-source.ts';
import { changeDraft, type DraftContext, makeDraft } from './make-draft.ts';
import { fitting, installedMade, readPageErrors, reportPageError } from './page-errors.ts';
import { previewDraft } from './preview.ts';
import { listDrafts, reviewDraft } from './review-draft.ts';

export type DraftRoute = DomainRoute<'drafts'>;

export function draftRoutes(context: DraftContext): HandlersOf<DraftRoute> {
  // Each is checked with all its files, for which there are few threads. No app keeps a person from reading what waits for them.
  const making = new Turns({
    ofKey: 1,
    inAll: 4,
    waiting: 2,
    milliseconds: 5_000,
    detail: 'Another app is being checked. Wait for it, then send this again.',
  });
  const reading = new Turns({
    ofKey: 1,
    inAll: 4,
    waiting: 4,
    milliseconds: 10_000,
    detail: 'Other apps are being read for you. Try again in a moment.',
  });
  const now = () => context.clock();
  return {
    'services.apps.create': async ({ caller, body, stillAllowed, left }) => {
      const draft = await making.run(caller.installationId, () => makeDraft(context, caller, body, stillAllowed), left);
      return { status: 201, body: { draft } };
    },
    'services.apps.change': async ({ caller, params, body, stillAllowed, left }) => {
      const make = () => changeDraft(context, caller, { ...params, ...body }, stillAllowed);
      return { status: 201, body: { draft: await making.run(caller.installationId, make, left) } };
    },
    'services.apps.templates': async () => ({ status: 200, body: { templates: [...context.kit.templates] } }),
    'services.apps.source': async ({ caller, params, query, stillAllowed, left }) => {
      const read = () => readSource(context, context.kit, { ...caller, ...params, madeBy: caller.appId }, query);
      const body = await reading.run(caller.installationId, read, left);
      await stillAllowed();
      return { status: 200, body };
    },
    'services.apps.log': async ({ caller, params, query, stillAllowed }) => {
      const made = { ...caller, ...params, madeBy: caller.appId };
      const before = await installedMade(context, made);
      const { items } = await readLogs(context, caller.accountKey, params.appId, query);
      await stillAllowed();
      // Meanwhile it may have become an app that this one did not make.
      const after = await installedMade(context, made);
      return { status: 200, body: { ...params, lines: after.id === before.id ? fitting(items) : [] } };
    },
    'services.apps.errors': async ({ caller, params }) => ({
      status: 200,
      body: { ...params, errors: await readPageErrors(context, { ...caller, ...params, madeBy: caller.appId }) },
    }),
    'apps.pageErrors.report': async ({ caller: { accountKey }, params, body }) => ({
      status: 200,
      body: { kept: await reportPageError(context, { accountKey, ...params }, body) },
    }),
    'account.drafts.preview': async ({ caller: { accountKey }, params: { id }, body: { hash } }) => ({
      status: 200,
      body: await previewDraft(context, { accountKey, id, now: now() }, hash),
    }),
    'account.drafts.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listDrafts(context, accountKey, query),
    }),
    'account.drafts.read': async ({ caller: { accountKey }, params: { id } }) => ({
      status: 200,
      body: await reading.run(accountKey, () => reviewDraft(context, { accountKey, id, now: now() })),
    }),
    'account.drafts.accept': async ({ caller, params: { id }, body, stillAllowed }) => {
      const account = { key: caller.accountKey, name: caller.accountName };
      const draft = await acceptDraft(context, account, id, body, stillAllowed);
      return { status: 200, body: { appId: appId.parse(draft.app_id), version: draft.version } };
    },
    'account.drafts.decline': async ({ caller: { accountKey }, params: { id } }) => {
      await declineDraft(context, { accountKey, id, now: now() });
      return { status: 204 };
    },
  };
}
