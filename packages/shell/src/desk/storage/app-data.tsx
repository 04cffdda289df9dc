// The data of an installed app, and deleting it without the app.
import { useSignal } from '@preact/signals';
import { useAction } from '../../api/reading.ts';
import { Button, Note } from '../../design/controls.tsx';
import { TypedConfirm } from '../../design/typed-confirm.tsx';
import { deleteData } from './delete-data.ts';

export function AppData({ appId, name }: { readonly appId: string; readonly name: string }) {
  const { busy, failure, run } = useAction();
  const state = useSignal<'shown' | 'asking' | 'deleted'>('shown');
  return (
    <section class="block" aria-labelledby="data-title">
      <h3 id="data-title">Data</h3>
      <p class="quiet-text">
        What {name} stored on this platform: its volume, its files in object storage, its search entries and its
        workflow runs. You can delete it and keep the app.
      </p>
      {state.value === 'asking' ? (
        <TypedConfirm
          word={name}
          action="Delete its data"
          busy={busy}
          onConfirm={() =>
            void run(() => deleteData(appId)).then((done) => {
              if (done) state.value = 'deleted';
            })
          }
          onCancel={() => (state.value = 'shown')}
        >
          <p>{name} stops, loses everything it stored, and starts empty. You can’t undo this.</p>
        </TypedConfirm>
      ) : (
        <div class="buttons">
          <Button kind="danger" icon="trash" onClick={() => (state.value = 'asking')}>
            Delete its data …
          </Button>
        </div>
      )}
      {state.value === 'deleted' && (
        <Note tone="success">Deleting the data of {name}. You can start it again when that is done.</Note>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </section>
  );
}
