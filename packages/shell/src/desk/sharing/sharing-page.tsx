// What the person shares, what others share or want to share with them, and which files others have.
import type { ContentInvitation, PickableFile } from '@platform/contract';
import { storeAddress } from '../../address/view.ts';
import { call, everyItem } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ago } from '../../design/words.ts';
import { CollectionsSection } from './collections-section.tsx';
import { OpenFilesSection } from './open-files-section.tsx';

const ROLES: Readonly<Record<ContentInvitation['role'], string>> = {
  viewer: 'You could read it.',
  editor: 'You could read and change it.',
  manager: 'You could read and change it, and decide who else may.',
};

export function SharingPage() {
  const invitations = useReading(() =>
    everyItem((cursor) => call('account.content.invitations', { query: { limit: 200, cursor } })),
  );
  const collections = useReading(() =>
    everyItem((cursor) => call('account.collections.list', { query: { limit: 200, cursor } })),
  );
  const files = useReading(() =>
    everyItem((cursor) => call('account.openFiles.list', { query: { limit: 200, cursor } })),
  );
  const opened = useReading(() =>
    everyItem((cursor) => call('account.files.list', { query: { limit: 200, of: 'others', cursor } })),
  );
  const failure = invitations.failure ?? collections.failure ?? files.failure ?? opened.failure;
  return (
    <>
      <PageHead title="Sharing">
        <p class="quiet-text">
          What you share and what others share with you, whichever app made it, and which of your files others have.
        </p>
      </PageHead>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <section class="block" aria-labelledby="invitations-title">
        <h3 id="invitations-title">Invitations</h3>
        {invitations.value === null && failure === null && <Skeleton lines={2} label="Loading invitations" />}
        {invitations.value?.length === 0 && (
          <p class="quiet-text">
            No invitations. When somebody wants to share a list or another collection with you, it waits here.
          </p>
        )}
        {invitations.value !== null && invitations.value.length > 0 && (
          <ul class="rows">
            {invitations.value.map((one) => (
              <InvitationRow
                key={one.id}
                invitation={one}
                onAnswered={() => {
                  invitations.put((invitations.value ?? []).filter(({ id }) => id !== one.id));
                  void collections.again();
                }}
              />
            ))}
          </ul>
        )}
      </section>
      {collections.failure === null && <CollectionsSection collections={collections} />}
      {opened.value !== null && opened.value.length > 0 && (
        <section class="block" aria-labelledby="opened-title">
          <h3 id="opened-title">Files from others</h3>
          {[...Map.groupBy(opened.value, ownerOf)].map(([owner, theirs]) => (
            <FilesOf
              key={owner}
              owner={owner}
              files={theirs}
              onLeft={(isLeft) => opened.put((opened.value ?? []).filter((file) => !isLeft(file)))}
            />
          ))}
        </section>
      )}
      {files.failure === null && <OpenFilesSection files={files} />}
    </>
  );
}

function ownerOf({ from }: Pick<PickableFile, 'from'>): string {
  return 'account' in from ? from.account : nameOf(from.app);
}

/** What one person opened to the other: it goes one by one, or as a whole. */
function FilesOf({
  owner,
  files,
  onLeft,
}: {
  readonly owner: string;
  readonly files: readonly PickableFile[];
  readonly onLeft: (isLeft: (file: PickableFile) => boolean) => void;
}) {
  const { busy, failure, run } = useAction();
  const leave = (query: { readonly id: string } | { readonly from: string }) =>
    void run(() => call('account.files.leave', { query })).then((done) => {
      if (done) onLeft((file) => ('id' in query ? file.id === query.id : ownerOf(file) === owner));
    });
  return (
    <>
      <ul class="rows" aria-label={`Files from ${owner}`}>
        {files.length > 1 && (
          <li class="row stacked">
            <div class="row-main">
              <span class="row-text">
                <span class="row-about">
                  {files.length} files from {owner}
                </span>
              </span>
              <Button busy={busy} onClick={() => leave({ from: owner })}>
                Remove all
                <span class="only-read"> files from {owner}</span>
              </Button>
            </div>
          </li>
        )}
        {files.map(({ id, name, access }) => (
          <li class="row stacked" key={id}>
            <div class="row-main">
              <span class="row-text">
                <span class="row-title">{name}</span>
                <span class="row-about">
                  {files.length > 1 ? '' : `From ${owner} · `}You may {access === 'read' ? 'read' : 'read and change'}{' '}
                  it
                </span>
              </span>
              <Button busy={busy} onClick={() => leave({ id })}>
                Remove
                <span class="only-read">
                  {' '}
                  {name} from {owner}
                </span>
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </>
  );
}

function InvitationRow({
  invitation: { id, collection, role, from, appId, createdAt },
  onAnswered,
}: {
  readonly invitation: ContentInvitation;
  readonly onAnswered: () => void;
}) {
  const { busy, failure, run } = useAction();
  const installed = findApp(appId) !== undefined;
  const answer = (route: 'account.content.accept' | 'account.content.decline') =>
    void run(() => call(route, { params: { id }, body: { appId } })).then((done) => {
      if (done) onAnswered();
    });
  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-icon">
          <Icon name="link" />
        </span>
        <span class="row-text">
          <span class="row-title">{collection.name}</span>
          <span class="row-about">
            From {from}, in {installed ? nameOf(appId) : appId} · {ago(createdAt)}
          </span>
        </span>
      </div>
      <p>
        {ROLES[role]} {installed ? `${nameOf(appId)} could too; your other apps can’t.` : ''}
      </p>
      {!installed && (
        <Note tone="info">
          It needs the app <a href={storeAddress(appId)}>{appId}</a>, which you don’t have. Install it, then accept.
        </Note>
      )}
      <div class="buttons">
        <Button busy={busy} onClick={() => answer('account.content.decline')}>
          Decline
        </Button>
        <Button kind="primary" busy={busy} disabled={!installed} onClick={() => answer('account.content.accept')}>
          Accept
        </Button>
      </div>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
