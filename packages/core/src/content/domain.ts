// The content domain: collections that apps and people share, and files.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { deletingDoomedObjects } from './bodies/doomed-objects.ts';
import { contentFiles } from './export/account-files.ts';
import { endFilesOfApp, endTransfersTo } from './files/end-files.ts';
import { type FileRoute, fileRoutes } from './files/routes.ts';
import { publishingContentNotices } from './notices/notice.ts';
import { contentOpened } from './opened.ts';
import { endOwner } from './owners/end-owner.ts';
import { type ContentRoute, contentRoutes } from './routes.ts';
import { type SharingRoute, sharingRoutes } from './sharing/routes.ts';
import { contentSweep } from './sweep.ts';

export function contentDomain(context: CoreContext): Domain<ContentRoute | FileRoute | SharingRoute> {
  return {
    handlers: { ...contentRoutes(context), ...fileRoutes(context), ...sharingRoutes(context) },
    workers: [contentSweep(context), deletingDoomedObjects(context)],
    jobs: [publishingContentNotices(context)],
    emits: [emission({ signal: 'content-invitations-changed', event: 'content-invitations', to: ['session'] })],
    accountDeleted: (trx, accountKey) => endOwner(context, trx, accountKey),
    installationEnded: (trx, id) => endTransfersTo(trx, id),
    dataDeleted: (trx, id) => endFilesOfApp(trx, id),
    opens: contentOpened(context),
    filesOf: ({ accountKey }) => contentFiles(context, accountKey),
  };
}
