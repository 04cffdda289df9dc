// What others want to share with the person, through which app, and which files apps have.
import type { ContentInvitation, FileTransfer, PickableFile } from '@platform/contract';
import { storeAddress } from '../../address/view.ts';
import { call, everyItem } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ago } from '../../design/words.ts';

const ROLES: Readonly<Record<ContentInvitation['role'], string>> = {
  viewer: 'You could read it.',
  editor: 'You could read and change it.',
  manager: 'You could read and change it, and decide who else may.',
};

export function SharingPage() {
  const invitations = useReading(() =>
    everyItem((cursor) => call('account.content.invitations', { query: { limit: 200, cursor } })),
  );
  const transfers = useReading(() =>
    everyItem((cursor) => call('account.files.transfers', { query: { limit: 200, cursor } })),
  );
  const opened = useReading(() =>
    everyItem((cursor) => call('account.files.list', { query: { limit: 200, of: 'others', cursor } })),
  );
  const failure = invitations.failure ?? transfers.failure ?? opened.failure;
  return (
    <>
      <PageHead title="Sharing">
        <p class="quiet-text">What others share with you, and which files apps have.</p>
      </PageHead>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <section aria-labelledby="invitations-title">
        <h3 id="invitations-title">Invitations</h3>
        {invitations.value === null && failure === null && <Skeleton lines={2} label="Loading invitations" />}
        {invitations.value?.length === 0 && (
          <Empty icon="link" title="No invitations">
            When somebody wants to share a list or another collection with you, it waits here.
          </Empty>
        )}
        {invitations.value !== null && invitations.value.length > 0 && (
          <ul class="rows">
            {invitations.value.map((one) => (
              <InvitationRow
                key={one.id}
                invitation={one}
                onAnswered={() => invitations.put((invitations.value ?? []).filter(({ id }) => id !== one.id))}
              />
            ))}
          </ul>
        )}
      </section>
      {opened.value !== null && opened.value.length > 0 && (
        <section aria-labelledby="opened-title">
          <h3 id="opened-title">Files from others</h3>
          {[...Map.groupBy(opened.value, ownerOf)].map(([owner, files]) => (
            <FilesOf
              key={owner}
              owner={owner}
              files={files}
              onLeft={(isLeft) => opened.put((opened.value ?? []).filter((file) => !isLeft(file)))}
            />
          ))}
        </section>
      )}
      <section aria-labelledby="transfers-title">
        <h3 id="transfers-title">Files that apps have</h3>
        {transfers.value?.length === 0 && (
          <Empty icon="link" title="No files handed over">
            A file that you hand to an app is listed here until you take it back.
          </Empty>
        )}
        {transfers.value !== null && transfers.value.length > 0 && (
          <ul class="rows">
            {transfers.value.map((one) => (
              <TransferRow
                key={`${one.file.id} ${one.appId}`}
                transfer={one}
                onTakenBack={() => transfers.put((transfers.value ?? []).filter((other) => other !== one))}
              />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function ownerOf({ from }: Pick<PickableFile, 'from'>): string {
  return 'account' in from ? from.account : nameOf(from.app);
}

/** What one person opened to the other: it goes one by one, or as a whole. */
export function FilesOf({
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
      <div class="row-main">
        <span class="row-text">
          <span class="row-title">From {owner}</span>
          <span class="row-about">{files.length === 1 ? '1 file' : `${files.length} files`}</span>
        </span>
        {files.length > 1 && (
          <Button busy={busy} onClick={() => leave({ from: owner })}>
            Remove all
            <span class="only-read"> files from {owner}</span>
          </Button>
        )}
      </div>
      <ul class="rows">
        {files.map(({ id, name, access }) => (
          <li class="row" key={id}>
            <div class="row-main">
              <span class="row-text">
                <span class="row-title">{name}</span>
                <span class="row-about">You may {access === 'read' ? 'read' : 'read and change'} it.</span>
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

export function InvitationRow({
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

export function TransferRow({
  transfer: { file, appId, access, since },
  onTakenBack,
}: {
  readonly transfer: FileTransfer;
  readonly onTakenBack: () => void;
}) {
  const { busy, failure, run } = useAction();
  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-text">
          <span class="row-title">{file.name}</span>
          <span class="row-about">
            {nameOf(appId)} may {access === 'read' ? 'read' : 'read and change'} it · since {ago(since)}
          </span>
        </span>
        <Button
          busy={busy}
          onClick={() =>
            void run(() => call('account.files.takeBack', { params: { id: file.id, appId } })).then((done) => {
              if (done) onTakenBack();
            })
          }
        >
          Take back
          <span class="only-read">
            {' '}
            {file.name} from {nameOf(appId)}
          </span>
        </Button>
      </div>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
