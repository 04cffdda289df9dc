// On the page of an agent: whether it searches the web without asking, and taking that back.
import { useId } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { onDay } from '../../design/words.ts';

export function AppWebSearch({ appId, name }: { readonly appId: string; readonly name: string }) {
  const id = useId();
  const params = { appId };
  const { value: view, failure, put } = useReading(() => call('apps.agent.read', { params }));
  const action = useAction();

  async function revoke(): Promise<void> {
    await action.run(async () => put(await call('apps.agent.revoke', { params })));
  }

  return (
    <section class="block" aria-labelledby={id}>
      <h3 id={id}>Web search</h3>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {view === null && failure === null && <Skeleton lines={1} label="Loading what you allowed" />}
      {view !== null && (
        <>
          <p>
            {view.webSearch.consent
              ? `${name} searches the web without asking you${since(view.webSearch.changedAt)}.`
              : `${name} asks you before it searches the web. What you allowed for a session ends with it, after a day at the latest.`}
          </p>
          <div class="buttons">
            <Button busy={action.busy} onClick={() => void revoke()}>
              {view.webSearch.consent ? 'Ask me before each search' : 'End what I allowed for sessions'}
            </Button>
          </div>
          {action.failure !== null && <Note tone="danger">{action.failure}</Note>}
        </>
      )}
    </section>
  );
}

function since(changedAt: string | null): string {
  return changedAt === null ? '' : `, since ${onDay(changedAt)}`;
}
