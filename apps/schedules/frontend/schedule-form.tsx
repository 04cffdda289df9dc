// Adding and changing a schedule, with a preview of when it will run.
import type { InstalledApp, SchedulesService, ScheduleTargetApp } from '@platform/sdk/browser';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import type { Draft } from './draft.ts';
import { Preview } from './preview.tsx';
import { cronOf, zones } from './when.ts';
import { WhenFields } from './when-fields.tsx';
import { problemOf } from './words.ts';

interface ScheduleFormProps {
  readonly service: SchedulesService;
  readonly targets: readonly ScheduleTargetApp[];
  readonly apps: readonly InstalledApp[];
  readonly draft: Draft;
  /** Escape leaves a form alone in which something is typed. */
  readonly isChanged: boolean;
  readonly onChange: (draft: Draft) => void;
  readonly onSave: () => Promise<void>;
  readonly onCancel: () => void;
}

export function ScheduleForm({
  service,
  targets,
  apps,
  draft,
  isChanged,
  onChange,
  onSave,
  onCancel,
}: ScheduleFormProps) {
  const { when, timeZone, target } = draft;
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const missed = useId();
  const name = useRef<HTMLInputElement>(null);
  const known = useMemo(() => zones(timeZone), [timeZone]);
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  useLayoutEffect(() => name.current?.focus(), []);

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    setProblem(undefined);
    setBusy(true);
    await onSave().catch((error: unknown) => setProblem(problemOf(error)));
    setBusy(false);
  }

  return (
    <form
      class="card schedule-form appears"
      aria-labelledby="form"
      onSubmit={(event) => void save(event)}
      onKeyDown={(event) => event.key === 'Escape' && !isChanged && onCancel()}
    >
      <h2 id="form">{draft.id === null ? 'New schedule' : 'Change schedule'}</h2>
      <div class="fields">
        <label>
          Name
          <input
            ref={name}
            required
            maxLength={80}
            placeholder="Morning report"
            value={draft.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        </label>
        <TargetField targets={targets} apps={apps} target={target} onChange={(chosen) => set({ target: chosen })} />
        <WhenFields when={when} onChange={(chosen) => set({ when: chosen })} />
        <label>
          Time zone
          <select value={timeZone} onChange={(event) => set({ timeZone: event.currentTarget.value })}>
            {known.map((zone) => (
              <option key={zone} value={zone}>
                {zone.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        <div>
          <label>
            If it was missed
            <select
              aria-describedby={missed}
              value={draft.misfire}
              onChange={(event) => set({ misfire: event.currentTarget.value === 'skip' ? 'skip' : 'once' })}
            >
              <option value="once">Run once afterwards</option>
              <option value="skip">Skip it</option>
            </select>
          </label>
          <p id={missed} class="quiet small">
            When the platform is off or your account is paused.
          </p>
        </div>
      </div>
      <Preview service={service} cron={cronOf(when)} timeZone={timeZone} />
      <details open={draft.payload !== ''}>
        <summary>Data for the app</summary>
        <label>
          JSON object, if the app asks for one
          <textarea
            rows={4}
            spellcheck={false}
            class="code"
            placeholder={'{"report": "full"}'}
            value={draft.payload}
            onInput={(event) => set({ payload: event.currentTarget.value })}
          />
        </label>
      </details>
      <Failure text={problem} />
      <div class="row">
        <button type="submit" class="primary" disabled={busy}>
          {draft.id === null ? 'Add schedule' : 'Save'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface TargetFieldProps {
  readonly targets: readonly ScheduleTargetApp[];
  readonly apps: readonly InstalledApp[];
  readonly target: Draft['target'];
  readonly onChange: (target: Draft['target']) => void;
}

/** Neither has a space. */
const choiceOf = ({ appId, trigger }: Draft['target']) => `${appId} ${trigger}`;

function TargetField({ targets, apps, target, onChange }: TargetFieldProps) {
  const isThere = targets.some(({ appId, triggers }) => appId === target.appId && triggers.includes(target.trigger));
  const nameOf = (appId: string, name: string) => apps.find((entry) => entry.appId === appId)?.name ?? name;
  return (
    <label>
      What runs
      <select
        required
        value={choiceOf(target)}
        onChange={(event) => {
          const [appId = '', trigger = ''] = event.currentTarget.value.split(' ', 2);
          onChange({ appId, trigger });
        }}
      >
        {!isThere && (
          <option value={choiceOf(target)}>
            {target.appId}: {target.trigger} (no longer available)
          </option>
        )}
        {targets.map(({ appId, name, triggers }) => (
          <optgroup key={appId} label={nameOf(appId, name)}>
            {triggers.map((trigger) => (
              <option key={trigger} value={choiceOf({ appId, trigger })}>
                {nameOf(appId, name)}: {trigger}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
