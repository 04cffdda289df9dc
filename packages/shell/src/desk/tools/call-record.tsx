// The record of tool calls: who called what, when, and what came of it.
import type { ToolCall, ToolOutcome } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { installedApps } from '../../apps/installed-apps.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { ago, inFull } from '../../design/words.ts';

const SHOWN = 20;

const OUTCOMES: Readonly<Record<ToolOutcome, string>> = {
  ok: 'Done',
  error: 'Failed',
  refused: 'Refused',
  proposed: 'Proposed',
  cancelled: 'Cancelled',
};

export function CallRecord() {
  const clients = useReading(async () => {
    const { items } = await call('account.connections.list', { query: { limit: 200 } });
    return new Map(items.map(({ id, client }) => [id, client.name]));
  });
  const first = useReading(() => call('account.toolCalls', { query: { limit: SHOWN } }));
  const more = useSignal<readonly ToolCall[]>([]);
  const cursor = useSignal<string | null | undefined>(undefined);
  const { busy, failure, run } = useAction();
  const { value } = first;
  const next = cursor.value === undefined ? (value?.nextCursor ?? null) : cursor.value;

  const readOn = () =>
    run(async () => {
      const page = await call('account.toolCalls', { query: { limit: SHOWN, cursor: next ?? undefined } });
      more.value = [...more.value, ...page.items];
      cursor.value = page.nextCursor;
    });

  const nameOf = (caller: string): string =>
    installedApps.value?.find(({ appId }) => appId === caller)?.name ??
    clients.value?.get(caller) ??
    (caller.startsWith('con-') ? 'A client that is no longer connected' : caller);

  const calls = [...(value?.items ?? []), ...more.value];
  return (
    <section class="block" aria-labelledby="tool-record-title">
      <h3 id="tool-record-title">Record</h3>
      <p class="quiet-text">Kept for 90 days at most. It says what was called, never with which words.</p>
      {first.failure !== null && <Note tone="danger">{first.failure}</Note>}
      {value === null && first.failure === null && <Skeleton lines={3} label="Loading the record" />}
      {value !== null && calls.length === 0 && <p>No tool was called yet.</p>}
      {calls.length > 0 && (
        <ul class="rows tool-record">
          {calls.map((one, index) => (
            <li key={`${one.at} ${index}`} class="row">
              <span class="row-text">
                <span class="row-title">
                  <code>{one.tool}</code>
                </span>
                <span class="row-about">
                  {nameOf(one.caller)} · <time title={inFull(one.at)}>{ago(one.at)}</time>
                </span>
              </span>
              <span class={`tool-outcome ${one.outcome}`}>{OUTCOMES[one.outcome]}</span>
            </li>
          ))}
        </ul>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {next !== null && (
        <div class="buttons">
          <Button busy={busy} onClick={() => void readOn()}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}
