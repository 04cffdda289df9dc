// Files that others have: apps that the person handed one to, and apps and accounts that an app of theirs opened one to.
import type { FilePrincipal, OpenFile } from '@platform/contract';
import { call } from '../../api/client.ts';
import { type Reading, useAction } from '../../api/reading.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { sizeText } from '../../design/words.ts';
import { session } from '../../session/session.ts';

const ACCESS: Readonly<Record<OpenFile['openTo'][number]['access'], string>> = {
  read: 'may read it',
  write: 'may read and change it',
  manage: 'may read, change and pass it on',
};

export function OpenFilesSection({ files: { value, put } }: { readonly files: Reading<readonly OpenFile[]> }) {
  const closed = (file: OpenFile, principal: FilePrincipal | undefined) => {
    const rest = principal === undefined ? [] : file.openTo.filter((one) => !isSame(one.principal, principal));
    put(
      (value ?? []).flatMap((one) =>
        one.id !== file.id ? [one] : rest.length === 0 ? [] : [{ ...one, openTo: rest }],
      ),
    );
  };
  return (
    <section class="block" aria-labelledby="open-files-title">
      <h3 id="open-files-title">Files that others have</h3>
      {value === null && <Skeleton lines={2} label="Loading files" />}
      {value?.length === 0 && (
        <p class="quiet-text">
          No files shared. Files that you hand to an app, and files that an app opens to others, are here until you take
          them back.
        </p>
      )}
      {value !== null && value.length > 0 && (
        <ul class="rows">
          {value.map((file) => (
            <FileRow key={file.id} file={file} onClosed={(principal) => closed(file, principal)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function isSame(one: FilePrincipal, other: FilePrincipal): boolean {
  return nameOfPrincipal(one) === nameOfPrincipal(other) && 'app' in one === 'app' in other;
}

function nameOfPrincipal(principal: FilePrincipal): string {
  return 'app' in principal ? nameOf(principal.app) : principal.account;
}

/** Whose it is. */
function originOf(from: OpenFile['from']): string {
  if ('app' in from) return `File of ${nameOf(from.app)}`;
  const own = session.value.kind === 'signed-in' ? session.value.account.name : null;
  // Accounts of this platform alone open files to one another.
  return from.account.startsWith(`${own}@`) ? 'Yours' : `From ${from.account}`;
}

interface FileRowProps {
  readonly file: OpenFile;
  readonly onClosed: (principal: FilePrincipal | undefined) => void;
}

function FileRow({ file, onClosed }: FileRowProps) {
  const { busy, failure, run } = useAction();
  const close = (principal?: FilePrincipal) =>
    void run(() =>
      call('account.openFiles.close', { params: { id: file.id }, body: principal === undefined ? {} : { principal } }),
    ).then((done) => {
      if (done) onClosed(principal);
    });
  const { name, size, from, openTo } = file;
  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-text">
          <span class="row-title">{name}</span>
          <span class="row-about">
            {originOf(from)} · {sizeText(size)}
          </span>
        </span>
        {openTo.length > 1 && (
          <Button busy={busy} onClick={() => close()}>
            Take back from all<span class="only-read">: {name}</span>
          </Button>
        )}
      </div>
      <ul class="shared-with-list">
        {openTo.map(({ principal, access }) => (
          <li key={nameOfPrincipal(principal)}>
            <div class="row-main">
              <span class="row-text">
                <span>
                  {nameOfPrincipal(principal)} <span class="quiet-text">{ACCESS[access]}</span>
                </span>
              </span>
              <Button busy={busy} onClick={() => close(principal)}>
                Take back
                <span class="only-read">
                  {' '}
                  {name} from {nameOfPrincipal(principal)}
                </span>
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
