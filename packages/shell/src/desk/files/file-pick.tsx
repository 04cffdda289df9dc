// The question which file an app may have: the person picks one, and the app gets that one until it is taken back.
import type { PickableFile, PickedFile } from '@platform/contract';
import { sizeText } from '@platform/contract/sizes';
import { useEffect, useId, useState } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { call, everyItem } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { Note } from '../../design/controls.tsx';
import { type Asked, type Asker, ask } from '../prompts/ask.tsx';
import { AskerLine, Decision } from '../prompts/parts.tsx';

type Access = 'read' | 'write';

interface Choice {
  readonly appId: string;
  readonly access: Access;
  readonly give: (file: PickedFile) => void;
}

/** @returns the file that the app has from now on; `null` for none */
export async function askForFile(asker: Asker, appId: string, access: Access): Promise<PickedFile | null> {
  let picked: PickedFile | null = null;
  const give: Choice['give'] = (file) => {
    picked = file;
  };
  return (await ask(FilePick, asker, { appId, access, give })) ? picked : null;
}

function FilePick({ asked }: { readonly asked: Asked & Choice }) {
  const [files, setFiles] = useState<readonly PickableFile[]>();
  const [unread, setUnread] = useState<string>();
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<PickableFile>();
  const { busy, failure, run } = useAction();
  const search = useId();
  useEffect(() => {
    everyItem((cursor) => call('account.files.list', { query: { limit: 200, cursor } })).then(setFiles, (error) =>
      setUnread(plainMessage(error)),
    );
  }, []);
  const usable = files?.filter(({ access }) => asked.access === 'read' || access !== 'read') ?? [];
  const sought = words.trim().toLocaleLowerCase();
  const found = usable.filter(({ name }) => name.toLocaleLowerCase().includes(sought));

  async function hand({ id }: PickableFile): Promise<void> {
    const body = { appId: asked.appId, access: asked.access };
    const done = await run(async () => {
      const { file } = await call('account.files.handOver', { params: { id }, body });
      asked.give({ id: file.id, name: file.name, type: file.type, size: file.size, etag: file.etag });
    });
    if (done) asked.answer(true);
  }

  return (
    <>
      <AskerLine
        asker={asked.asker}
        wants={
          asked.access === 'read' ? 'asks to read one of your files.' : 'asks to read and change one of your files.'
        }
      />
      <h2 id="prompt-title">Choose a file</h2>
      {unread !== undefined && <Note tone="danger">{unread}</Note>}
      {files !== undefined && usable.length === 0 && <p>You have no files to choose from. Add some in Files.</p>}
      {usable.length > 0 && (
        <>
          <label class="field" for={search}>
            <span>Search</span>
            <input
              id={search}
              type="text"
              value={words}
              onInput={({ currentTarget }) => {
                setWords(currentTarget.value);
                // What is handed over is always seen.
                setChosen(undefined);
              }}
            />
          </label>
          <fieldset class="contact-choice">
            <legend class="only-read">Files to choose from</legend>
            {found.map((one) => (
              <label key={one.id} class="contact-line">
                <input
                  type="radio"
                  name={`${search}-file`}
                  checked={chosen?.id === one.id}
                  onChange={() => setChosen(one)}
                />
                <span class="contact-words">
                  <strong>{one.name}</strong>
                  <span class="quiet">{aboutOf(one)}</span>
                </span>
              </label>
            ))}
            {found.length === 0 && <p class="quiet">No file has this name.</p>}
          </fieldset>
        </>
      )}
      <p>
        The app gets this one file, until you take it back in Files or in Settings → Sharing. It learns nothing of your
        other files.
      </p>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <Decision
        no="Choose none"
        yes="Hand over this file"
        busy={busy}
        disabled={chosen === undefined}
        onNo={() => asked.answer(false)}
        onYes={() => void (chosen !== undefined && hand(chosen))}
      />
    </>
  );
}

/** Whatever others opened to the person, it is not theirs, and is said to be so. */
function aboutOf({ size, from, own }: PickableFile): string {
  const whose = own ? '' : ` · from ${'account' in from ? from.account : from.app}`;
  return `${sizeText(size)}${whose}`;
}
