// One file, who has it, and what can be done with it.
import type { FileTransfer, UserFile } from '@platform/sdk/browser';
import { ago, sizeText } from '@platform/shell/words';
import { useEffect, useId, useState } from 'preact/hooks';
import { AskFirst } from '../../shared/ask-first.tsx';
import { Tile } from './tile.tsx';
import { accessWords, previewOf } from './words.ts';

interface FileRowProps {
  readonly file: UserFile;
  readonly transfers: readonly FileTransfer[];
  readonly nameOf: (appId: string) => string;
  readonly read: () => Promise<Blob>;
  readonly onDownload: () => void;
  readonly onRename: (name: string) => Promise<void>;
  readonly onRemove: () => void;
  readonly onTakeBack: (appId: string) => void;
  readonly onProblem: (error: unknown) => void;
}

export function FileRow({ file, transfers, nameOf, ...on }: FileRowProps) {
  const [open, setOpen] = useState<'preview' | 'rename'>();
  const toggle = (what: 'preview' | 'rename') => setOpen(open === what ? undefined : what);
  return (
    <article class="file" aria-label={file.name}>
      <Tile file={file} read={on.read} />
      <div class="about">
        <h2>{file.name}</h2>
        <p class="quiet small">
          {sizeText(file.size)} · changed {ago(file.changedAt)}
        </p>
      </div>
      {transfers.length > 0 && (
        <ul class="plain has" aria-label={`Apps that have ${file.name}`}>
          {transfers.map((transfer) => (
            <li key={transfer.appId} class="row between">
              <span>
                <strong>{nameOf(transfer.appId)}</strong> {accessWords(transfer)}
              </span>
              <button
                type="button"
                onClick={() => on.onTakeBack(transfer.appId)}
                aria-label={`Take ${file.name} back from ${nameOf(transfer.appId)}`}
              >
                Take back
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="row actions">
        {previewOf(file) !== null && (
          <button
            type="button"
            aria-expanded={open === 'preview'}
            onClick={() => toggle('preview')}
            aria-label={`Preview ${file.name}`}
          >
            Preview
          </button>
        )}
        <button type="button" onClick={on.onDownload} aria-label={`Download ${file.name}`}>
          Download
        </button>
        <button
          type="button"
          aria-expanded={open === 'rename'}
          onClick={() => toggle('rename')}
          aria-label={`Rename ${file.name}`}
        >
          Rename
        </button>
        <AskFirst
          word="Delete"
          name={file.name}
          question={transfers.length === 0 ? 'Delete this file?' : 'Delete it? The apps that have it lose it.'}
          yes="Yes, delete"
          onYes={on.onRemove}
        />
      </div>
      {open === 'preview' && <Preview file={file} read={on.read} onProblem={on.onProblem} />}
      {open === 'rename' && (
        <Rename
          name={file.name}
          onSave={async (name) => {
            await on.onRename(name);
            setOpen(undefined);
          }}
        />
      )}
    </article>
  );
}

/** Of a text the beginning; a picture is scaled down. */
const LONGEST_TEXT = 20_000;

function Preview({ file, read, onProblem }: Pick<FileRowProps, 'file' | 'read' | 'onProblem'>) {
  const [shown, setShown] = useState<{ readonly text: string } | { readonly address: string }>();
  useEffect(() => {
    let address: string | undefined;
    let left = false;
    read()
      .then(async (blob) => {
        if (left) return;
        if (previewOf(file) === 'text') setShown({ text: (await blob.text()).slice(0, LONGEST_TEXT) });
        else {
          address = URL.createObjectURL(blob);
          setShown({ address });
        }
      })
      .catch(onProblem);
    return () => {
      left = true;
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [file.etag]);
  if (shown === undefined) return <p class="quiet">Loading…</p>;
  if ('address' in shown) return <img class="preview" src={shown.address} alt={file.name} />;
  return <textarea class="preview" readOnly rows={12} aria-label={`Text of ${file.name}`} value={shown.text} />;
}

function Rename({ name, onSave }: { readonly name: string; readonly onSave: (name: string) => Promise<void> }) {
  const [words, setWords] = useState(name);
  const field = useId();
  return (
    <form
      class="row rename"
      onSubmit={(event) => {
        event.preventDefault();
        void onSave(words.trim());
      }}
    >
      <label for={field}>Name</label>
      <input id={field} type="text" value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
      <button type="submit" class="primary" disabled={words.trim() === ''}>
        Save
      </button>
    </form>
  );
}
