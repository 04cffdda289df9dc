// The question whether a file that an app made is to become one of the person's.
import { call } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { Note } from '../../design/controls.tsx';
import { type Asked, type Asker, ask } from '../prompts/ask.tsx';
import { AskerLine, Decision } from '../prompts/parts.tsx';

interface Offer {
  readonly appId: string;
  readonly name: string;
  readonly kept: (name: string) => void;
}

/** @returns the name that it has among the person's files; `null` when they declined */
export async function askToKeep(asker: Asker, appId: string, name: string): Promise<string | null> {
  let saved: string | null = null;
  const kept: Offer['kept'] = (as) => {
    saved = as;
  };
  return (await ask(FileKeep, asker, { appId, name, kept })) ? saved : null;
}

function FileKeep({ asked }: { readonly asked: Asked & Offer }) {
  const { busy, failure, run } = useAction();
  async function keep(): Promise<void> {
    const { appId, name } = asked;
    const done = await run(async () => {
      asked.kept((await call('account.files.save', { body: { appId, name } })).file.name);
    });
    if (done) asked.answer(true);
  }
  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to add a file to yours." />
      <h2 id="prompt-title">Keep “{asked.name}”?</h2>
      <p>It becomes one of your files, which you find in Files. The app can’t read or change this copy.</p>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <Decision
        no="Don’t keep it"
        yes="Keep file"
        busy={busy}
        onNo={() => asked.answer(false)}
        onYes={() => void keep()}
      />
    </>
  );
}
