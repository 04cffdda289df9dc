// The question before an app saves a file without a press of the person: an app could fill the device with files, or leave one there
// to be opened later.
import { Icon } from '../../design/icons.tsx';
import { sizeText } from '../../design/words.ts';
import { saveFile } from '../../session/save-file.ts';
import { type Asked, type Asker, ask } from './ask.tsx';
import { AskerLine, Decision } from './parts.tsx';

export function askToSave(file: Blob, name: string, asker: Asker): Promise<boolean> {
  return ask(DownloadReview, asker, { file, name });
}

function DownloadReview({ asked }: { readonly asked: Asked & { readonly file: Blob; readonly name: string } }) {
  const { file, name } = asked;

  function save(): void {
    saveFile(file, name);
    asked.answer(true);
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to save a file on this device:" />
      <div class="prompt-app">
        <span class="prompt-picture neutral">
          <Icon name="download" size={28} />
        </span>
        <h2 id="prompt-title">Save a file?</h2>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section class="prompt-address" aria-label="File" tabIndex={0}>
        <strong>{name}</strong>
      </section>
      <p>{sizeText(file.size)}. Open it only if you trust the app.</p>
      <Decision no="Don’t save" yes="Save" busy={false} onNo={() => asked.answer(false)} onYes={save} />
    </>
  );
}
