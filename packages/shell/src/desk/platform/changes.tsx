// The record of what was changed here: who, what, when.
import type { OperatorSettings, SettingChange } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { Button, Note } from '../../design/controls.tsx';
import { ago, inFull } from '../../design/words.ts';
import { changeInWords } from './change-words.ts';

const PAGE = 10;

/** @param after the settings that the last change made: with others the record is read again */
export function Changes({ after }: { readonly after: OperatorSettings }) {
  const items = useSignal<readonly SettingChange[] | null>(null);
  const next = useSignal<string | null>(null);
  const failure = useSignal<string | null>(null);

  async function read(cursor?: string): Promise<void> {
    try {
      const page = await call('operator.settings.changes', { query: { limit: PAGE, cursor } });
      items.value = cursor === undefined ? page.items : [...(items.value ?? []), ...page.items];
      next.value = page.nextCursor;
      failure.value = null;
    } catch (error) {
      failure.value = plainMessage(error);
    }
  }

  useEffect(() => void read(), [after]);
  return (
    <section class="block" aria-labelledby="changes-title">
      <h3 id="changes-title">Changes made here</h3>
      {failure.value !== null && <Note tone="danger">{failure.value}</Note>}
      {items.value?.length === 0 && <p class="quiet-text">Nothing was changed here yet.</p>}
      {(items.value?.length ?? 0) > 0 && (
        <ul class="rows" aria-labelledby="changes-title">
          {items.value?.map(({ id, by, changedAt, change }) => (
            <li key={id} class="row">
              <span class="row-text">
                <span>{changeInWords(change)}</span>
                <span class="row-about">
                  {by},{' '}
                  <time dateTime={changedAt} title={inFull(changedAt)}>
                    {ago(changedAt)}
                  </time>
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {next.value !== null && (
        <div class="buttons">
          <Button onClick={() => void read(next.value ?? undefined)}>Show more</Button>
        </div>
      )}
    </section>
  );
}
