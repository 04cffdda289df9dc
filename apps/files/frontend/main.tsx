// Files: what the person keeps on the platform, and which apps have it.
import type { App, UserFile } from '@platform/sdk/browser';
import { useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { FileRow } from './file-row.tsx';
import { useFiles } from './use-files.ts';
import { matches } from './words.ts';

startApp(Files);

interface Arriving {
  readonly name: string;
  /** 0 to 1. */
  readonly share: number;
}

function Files({ app }: { readonly app: App }) {
  const { known, failure, ...files } = useFiles(app);
  const [words, setWords] = useKept<string>('words', '');
  const [arriving, setArriving] = useState<Arriving>();
  const [problem, setProblem] = useState<string>();
  const [said, setSaid] = useState('');
  const chooser = useRef<HTMLInputElement>(null);

  async function act(work: () => Promise<unknown>, done: string): Promise<void> {
    setProblem(undefined);
    setSaid('');
    try {
      await work();
      setSaid(done);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }

  async function addAll(chosen: readonly File[]): Promise<void> {
    for (const file of chosen) {
      const onProgress = (share: number) => setArriving({ name: file.name, share });
      onProgress(0);
      await act(() => files.add(file, onProgress), `${file.name} was added.`);
    }
    setArriving(undefined);
  }

  function dropped(event: DragEvent): void {
    event.preventDefault();
    if (arriving === undefined) void addAll([...(event.dataTransfer?.files ?? [])]);
  }

  async function download(file: UserFile): Promise<void> {
    await app.saveFile(await files.read(file), file.name);
  }

  const found = known?.files.filter((file) => matches(file, words)) ?? [];
  return (
    <main onDragOver={(event) => event.preventDefault()} onDrop={dropped}>
      <div class="row between">
        <h1>Files</h1>
        <button
          type="button"
          class="primary"
          disabled={arriving !== undefined}
          onClick={() => chooser.current?.click()}
        >
          Add files
        </button>
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => {
            const chosen = [...(currentTarget.files ?? [])];
            currentTarget.value = '';
            void addAll(chosen);
          }}
        />
      </div>
      <Failure text={problem ?? failure} />
      <p class="only-read" aria-live="polite">
        {said}
      </p>
      {arriving !== undefined && (
        <label class="card below arriving">
          <span>Adding {arriving.name}</span>
          <progress value={arriving.share} max={1} />
        </label>
      )}
      {known !== undefined && known.files.length > 5 && (
        <label class="search">
          <span class="only-read">Search files</span>
          <input
            type="search"
            value={words}
            placeholder="Search"
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </label>
      )}
      {known?.files.length === 0 && (
        <section class="card below stack">
          <p>No files yet.</p>
          <p class="quiet">
            Add files from this device, or drop them here. An app that asks for one gets the one you choose, and you
            take it back here.
          </p>
        </section>
      )}
      <ul class="plain files card" hidden={found.length === 0}>
        {found.map((file) => (
          <li key={file.id}>
            <FileRow
              file={file}
              transfers={known?.transfers.filter((transfer) => transfer.file.id === file.id) ?? []}
              nameOf={(appId) => known?.names.get(appId) ?? appId}
              read={() => files.read(file)}
              onDownload={() => void act(() => download(file), '')}
              onRename={(name) => act(() => files.rename(file.id, name), 'Renamed.')}
              onRemove={() => void act(() => files.remove(file.id), `${file.name} was deleted.`)}
              onTakeBack={(appId) => void act(() => files.takeBack(file.id, appId), `${file.name} was taken back.`)}
              onProblem={(error) => setProblem(messageOf(error))}
            />
          </li>
        ))}
      </ul>
      {known !== undefined && known.files.length > 0 && found.length === 0 && (
        <p class="quiet">None of your files has this name.</p>
      )}
    </main>
  );
}
