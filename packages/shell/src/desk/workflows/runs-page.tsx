// All workflow runs of an app, newest first.
import type { WorkflowStatus, WorkflowSummary } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { addressOf, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { usePolling } from '../../api/use-polling.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { RunRows } from './run-rows.tsx';
import { STATES } from './words.ts';

const PAGE = 25;
/** What one request returns at most. */
const LARGEST_PAGE = 200;
const EVERY_MS = 5_000;

export function RunsPage({ appId }: { readonly appId: string }) {
  const status = useSignal<WorkflowStatus | undefined>(undefined);
  return (
    <>
      <PageHead
        title={`Workflows of ${nameOf(appId)}`}
        up={{ href: addressOf(settingsAt('apps/:appId', { appId })), label: nameOf(appId) }}
      >
        <p class="quiet-text">
          Each run is a task of several steps. Choose one to see its timeline. The platform keeps a run for a week after
          it ended.
        </p>
      </PageHead>
      <section class="block" aria-label="Runs">
        <div class="run-filter">
          <label for="run-status">Show</label>
          <select
            id="run-status"
            value={status.value ?? ''}
            onChange={({ currentTarget: { value } }) => {
              status.value = value in STATES ? (value as WorkflowStatus) : undefined;
            }}
          >
            <option value="">All runs</option>
            {Object.entries(STATES).map(([state, label]) => (
              <option key={state} value={state}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <Runs key={status.value} appId={appId} status={status.value} />
      </section>
    </>
  );
}

interface Shown {
  readonly runs: readonly WorkflowSummary[];
  readonly older: string | null;
}

function Runs({ appId, status }: { readonly appId: string; readonly status: WorkflowStatus | undefined }) {
  const reading = useReading<Shown>(readNewest);
  const more = useAction();
  const { value, failure, put } = reading;
  usePolling(reading.again, EVERY_MS);

  function read(limit: number, cursor?: string) {
    return call('apps.workflows.list', { params: { appId }, query: { limit, status, cursor } });
  }

  /** As many as are shown, and new ones. Those beyond the largest page stay as they were read. */
  async function readNewest(): Promise<Shown> {
    const former = reading?.value ?? { runs: [], older: null };
    const wanted = former.runs.length + (former.older === null ? PAGE : 0);
    const { items, nextCursor } = await read(Math.min(LARGEST_PAGE, Math.max(PAGE, wanted)));
    if (former.runs.length <= LARGEST_PAGE || nextCursor === null) return { runs: items, older: nextCursor };
    return { runs: [...items, ...former.runs.slice(items.length)], older: former.older };
  }

  async function showOlder({ runs, older }: Shown): Promise<void> {
    const { items, nextCursor } = await read(PAGE, older ?? undefined);
    const known = new Set(runs.map(({ id }) => id));
    put({ runs: [...runs, ...items.filter(({ id }) => !known.has(id))], older: nextCursor });
  }

  const problem = more.failure ?? failure;
  return (
    <>
      {problem !== null && <Note tone="danger">{problem}</Note>}
      {value === null && problem === null && <Skeleton lines={5} label="Loading the runs" />}
      {value !== null && value.runs.length === 0 && (
        <Empty icon="clock" title={status === undefined ? 'No workflow runs yet' : 'No runs in this state'}>
          {status === undefined
            ? `A run appears here when ${nameOf(appId)} starts one.`
            : 'Choose “All runs” to see the others.'}
        </Empty>
      )}
      {value !== null && value.runs.length > 0 && <RunRows appId={appId} runs={value.runs} />}
      {value !== null && value.older !== null && (
        <div class="buttons">
          <Button busy={more.busy} onClick={() => void more.run(() => showOlder(value))}>
            Show older runs
          </Button>
        </div>
      )}
    </>
  );
}
