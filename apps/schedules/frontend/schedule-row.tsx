// One schedule: what it runs and when, how it went last, and what can be done with it.
import type { Schedule } from '@platform/sdk/browser';
import { AppIcon } from '../../shared/app-icon.tsx';
import { AskFirst } from '../../shared/ask-first.tsx';
import { timeIn, wordsOf } from './when.ts';
import { todaysName } from './zone-names.ts';

interface ScheduleRowProps {
  readonly schedule: Schedule;
  /** The app that it calls; without a name when that is not installed any more. */
  readonly app: { readonly name: string; readonly icon: string | null } | undefined;
  /** It was started by hand, and how that ended is not known yet. */
  readonly running: boolean;
  readonly onRun: () => void;
  readonly onPause: () => void;
  readonly onChange: () => void;
  readonly onDelete: () => void;
}

const OUTCOMES = {
  delivered: { text: 'Delivered', tone: 'good' },
  failed: { text: 'Failed', tone: 'danger' },
  skipped: { text: 'Skipped', tone: 'warn' },
} as const;

export function ScheduleRow({ schedule, app, running, ...on }: ScheduleRowProps) {
  const { name, target, cron, timeZone, enabled, nextRunAt } = schedule;
  const appName = app?.name ?? target.appId;
  return (
    <article class="card" aria-label={name}>
      <AppIcon appId={target.appId} name={appName} icon={app?.icon ?? null} />
      <div class="grow">
        <h2>
          {name} {!enabled && <span class="badge warn">Paused</span>}
        </h2>
        <p class="quiet small">
          {appName}: {target.trigger} {app === undefined && <span class="badge danger">Not installed</span>}
        </p>
        <p>
          {wordsOf(cron)} <span class="quiet small">{todaysName(timeZone).replaceAll('_', ' ')}</span>
        </p>
        {nextRunAt !== null && (
          <p class="small">
            Next: <time dateTime={nextRunAt}>{timeIn(timeZone, nextRunAt, 'short')}</time>
          </p>
        )}
        <LastRun schedule={schedule} running={running} />
        <div class="row actions">
          <button type="button" onClick={on.onRun} disabled={running} aria-label={`Run now: ${name}`}>
            Run now
          </button>
          <button type="button" onClick={on.onPause} aria-label={`${enabled ? 'Pause' : 'Resume'} ${name}`}>
            {enabled ? 'Pause' : 'Resume'}
          </button>
          <button type="button" onClick={on.onChange} aria-label={`Change ${name}`}>
            Change
          </button>
          <AskFirst word="Delete" name={name} question="Delete it?" yes="Yes, delete" no="Keep" onYes={on.onDelete} />
        </div>
      </div>
    </article>
  );
}

function LastRun({ schedule, running }: { readonly schedule: Schedule; readonly running: boolean }) {
  const { lastRun, timeZone } = schedule;
  return (
    <p class="small" aria-live="polite">
      {running && <span class="badge">Running…</span>}
      {!running && lastRun === null && <span class="quiet">Not run yet.</span>}
      {!running && lastRun !== null && (
        <>
          Last run: <time dateTime={lastRun.at}>{timeIn(timeZone, lastRun.at, 'short')}</time>{' '}
          <span class={`badge ${OUTCOMES[lastRun.outcome].tone}`}>{OUTCOMES[lastRun.outcome].text}</span>
          {lastRun.detail !== undefined && <span class="detail">{lastRun.detail}</span>}
        </>
      )}
    </p>
  );
}
