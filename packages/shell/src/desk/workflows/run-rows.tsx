// Workflow runs of an app as rows that lead to their timelines.
import type { WorkflowSummary } from '@platform/contract';
import { addressOf, settingsAt } from '../../address/view.ts';
import { Icon } from '../../design/icons.tsx';
import { ago, count, inFull } from '../../design/words.ts';
import { STATES, tookOf } from './words.ts';

interface RunRowsProps {
  readonly appId: string;
  readonly runs: readonly WorkflowSummary[];
}

export function RunRows({ appId, runs }: RunRowsProps) {
  const now = Date.now();
  return (
    <ul class="rows runs">
      {runs.map((run) => (
        <li key={run.id}>
          <a
            class="row"
            href={addressOf(settingsAt('apps/:appId/workflows/:workflowId', { appId, workflowId: run.id }))}
          >
            <RunState status={run.status} />
            <span class="row-text">
              <span class="row-title">
                <bdi>{run.definition}</bdi>
              </span>
              <span class="row-about">
                <bdi>{run.idempotencyKey}</bdi>
              </span>
            </span>
            <span class="run-when">
              <time dateTime={run.createdAt} title={inFull(run.createdAt)}>
                {ago(run.createdAt)}
              </time>
              <span>
                {run.status === 'running' ? 'for' : 'took'} {tookOf(run, now)}, {count(run.activities, 'step')}
              </span>
            </span>
            <Icon name="right" size={18} />
          </a>
        </li>
      ))}
    </ul>
  );
}

export function RunState({ status }: Pick<WorkflowSummary, 'status'>) {
  return (
    <span class={`run-state ${status}`}>
      <span class="dot" aria-hidden="true" />
      {STATES[status]}
    </span>
  );
}
