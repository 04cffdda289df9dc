// The content domain: collections that apps and people share.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { emission } from '../events/emission.ts';
import { contentFiles } from './account-files.ts';
import { publishingContentNotices } from './notices/notice.ts';
import { endOwner } from './owners/end-owner.ts';
import { type ContentRoute, contentRoutes } from './routes.ts';
import { contentSweep } from './sweep.ts';

export function contentDomain(context: CoreContext): Domain<ContentRoute> {
  return {
    handlers: contentRoutes(context),
    workers: [contentSweep(context)],
    jobs: [publishingContentNotices(context)],
    emits: [emission({ signal: 'content-invitations-changed', event: 'content-invitations', to: ['session'] })],
    accountDeleted: (trx, accountKey) => endOwner(context, trx, accountKey),
    filesOf: ({ accountKey }) => contentFiles(context, accountKey),
  };
}
