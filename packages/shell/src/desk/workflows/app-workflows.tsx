// The newest workflow runs of an app, on its page.

import { go, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { usePolling } from '../../api/use-polling.ts';
import { Button, Note } from '../../design/controls.tsx';
import { RunRows } from './run-rows.tsx';

const SHOWN = 5;
const EVERY_MS = 5_000;

/** Nothing for an app without runs: most have none. */
export function AppWorkflows({ appId, name }: { readonly appId: string; readonly name: string }) {
  const reading = useReading(() => call('apps.workflows.list', { params: { appId }, query: { limit: SHOWN } }));
  usePolling(reading.again, EVERY_MS);
  const { value, failure } = reading;
  if (failure === null && (value === null || value.items.length === 0)) return null;
  return (
    <section class="block" aria-labelledby="workflows-title">
      <h3 id="workflows-title">Workflows</h3>
      <p class="quiet-text">
        Tasks of several steps that {name} completes even if it stops in between: it then continues where it left off.
      </p>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {value !== null && <RunRows appId={appId} runs={value.items} />}
      {value !== null && value.nextCursor !== null && (
        <div class="buttons">
          <Button icon="clock" onClick={() => go(settingsAt('apps/:appId/workflows', { appId }))}>
            See all runs
          </Button>
        </div>
      )}
    </section>
  );
}
