// One workflow run: what it is, how it stands, and its steps as bars over time; live while it runs.
import type { WorkflowTimeline } from '@platform/contract';
import type { ComponentChildren } from 'preact';
import { addressOf, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { usePolling } from '../../api/use-polling.ts';
import { nameOf } from '../../apps/installed-apps.ts';
import { Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { atTime, inFull, onDay } from '../../design/words.ts';
import { RunState } from './run-rows.tsx';
import { StepList } from './step-list.tsx';
import { timelineOf } from './timeline.ts';
import { sizes, span, tookOf } from './words.ts';

const EVERY_MS = 2_000;
/** As long as a lease lasts: sooner, the silence may be that of a step at work. */
const SILENT_MS = 60_000;

export function RunPage({ appId, workflowId }: { readonly appId: string; readonly workflowId: string }) {
  const reading = useReading(() => call('apps.workflows.read', { params: { appId, workflowId } }));
  const { value, failure } = reading;
  usePolling(reading.again, value?.run.status === 'running' ? EVERY_MS : null);
  const up = {
    href: addressOf(settingsAt('apps/:appId/workflows', { appId })),
    label: `Workflows of ${nameOf(appId)}`,
  };
  const drawn = value === null ? null : timelineOf(value, Date.now());
  return (
    <>
      <PageHead title={value?.run.definition ?? 'Workflow run'} up={up} />
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {value === null && failure === null && <Skeleton lines={6} label="Loading the run" />}
      {value !== null && drawn !== null && (
        <>
          <RunFacts timeline={value} now={drawn.to} />
          <section class="block" aria-labelledby="steps-title">
            <h3 id="steps-title">Timeline</h3>
            {drawn.steps.length === 0 ? (
              <Empty icon="clock" title={value.run.status === 'running' ? 'No steps yet' : 'No steps'}>
                {value.run.status === 'running'
                  ? 'Each step appears here as soon as the app begins it.'
                  : 'The run ended before its first step.'}
              </Empty>
            ) : (
              <StepList timeline={drawn} />
            )}
          </section>
        </>
      )}
    </>
  );
}

function RunFacts({
  timeline: { run, activities },
  now,
}: {
  readonly timeline: WorkflowTimeline;
  readonly now: number;
}) {
  const done = activities.filter(({ state }) => state === 'completed').length;
  const silent = now - Date.parse(run.updatedAt);
  const isIdle = run.status === 'running' && silent > SILENT_MS && !activities.some(({ state }) => state === 'claimed');
  return (
    <section class="block run-facts" aria-label="State">
      <div class="backend">
        <p class="backend-line">
          <span role="status">
            <RunState status={run.status} />
          </span>
          <span>
            {run.status === 'running' ? 'for' : 'after'} {tookOf(run, now)}
          </span>
        </p>
        {run.error !== null && (
          <p class="run-error">
            {run.error.code !== undefined && <code>{run.error.code}</code>} {run.error.message}
          </p>
        )}
        {isIdle && (
          <p class="quiet-text">
            No process has worked on it for {span(silent)}. The app continues it when its backend starts again.
          </p>
        )}
        <dl class="facts">
          <Fact name="Idempotency key">
            <bdi>{run.idempotencyKey}</bdi>
          </Fact>
          <Fact name="Version">{run.version}</Fact>
          <Fact name="Steps finished">
            {done} of {activities.length}
          </Fact>
          <Fact name="Size">{sizes(run)}</Fact>
          <Fact name="Started">
            <Moment at={run.createdAt} />
          </Fact>
          {run.completedAt === null ? (
            <Fact name="Expires">
              <Moment at={run.expiresAt} />
            </Fact>
          ) : (
            <Fact name="Ended">
              <Moment at={run.completedAt} />
            </Fact>
          )}
        </dl>
      </div>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Moment({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={inFull(at)}>
      {onDay(at)}, {atTime(at)}
    </time>
  );
}
