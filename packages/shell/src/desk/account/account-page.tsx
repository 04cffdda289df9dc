// The account itself: take its data along, and delete it.
import { useSignal } from '@preact/signals';
import { Button, Note } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { TypedConfirm } from '../../design/typed-confirm.tsx';
import { inFull, onDay } from '../../design/words.ts';
import { DownloadButton } from '../../session/download-button.tsx';
import { type Failure, failureOf } from '../../session/failure.ts';
import { deleteAccount, session } from '../../session/session.ts';

export function AccountPage() {
  if (session.value.kind !== 'signed-in') return null;
  const { name, createdAt } = session.value.account;
  return (
    <>
      <PageHead title="Account">
        <p class="quiet-text">
          {name}, since{' '}
          <time dateTime={createdAt} title={inFull(createdAt)}>
            {onDay(createdAt)}
          </time>
        </p>
      </PageHead>
      <section class="block" aria-labelledby="download-title">
        <h3 id="download-title">Download your data</h3>
        <p class="quiet-text">
          One archive with what the platform keeps of your account: apps and permissions, your files and collections,
          notifications, search entries, workflow runs, schedules, packages you published, and what apps store in files
          and volumes. You confirm with your passkey.
        </p>
        <p class="quiet-text">
          It has nothing of what apps keep in object storage or in this browser, and no values of secrets. Use what each
          app offers to export, or ask the operator for a copy.
        </p>
        <DownloadButton />
      </section>
      <Deletion name={name} />
    </>
  );
}

function Deletion({ name }: { readonly name: string }) {
  const asking = useSignal(false);
  const busy = useSignal(false);
  const failure = useSignal<Failure | null>(null);

  async function remove(): Promise<void> {
    busy.value = true;
    failure.value = null;
    try {
      await deleteAccount(name);
    } catch (error) {
      failure.value = failureOf(error);
    }
    busy.value = false;
  }

  return (
    <section class="block" aria-labelledby="deletion-title">
      <h3 id="deletion-title">Delete the account</h3>
      <p class="quiet-text">
        Everything stops at once and is deleted after seven days. Until then you can sign in and keep the account.
      </p>
      {asking.value ? (
        <TypedConfirm
          word={name}
          action="Delete my account"
          busy={busy.value}
          onConfirm={() => void remove()}
          onCancel={() => (asking.value = false)}
        >
          <ul class="losses">
            <li>Your apps stop, and their internet addresses close.</li>
            <li>You are signed out on all other devices.</li>
            <li>Apps you published leave the Store; people who installed them keep them.</li>
            <li>After seven days all data of your apps is gone, and nobody can bring it back.</li>
          </ul>
        </TypedConfirm>
      ) : (
        <div class="buttons">
          <Button kind="danger" icon="trash" onClick={() => (asking.value = true)}>
            Delete my account …
          </Button>
        </div>
      )}
      {failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>}
    </section>
  );
}
