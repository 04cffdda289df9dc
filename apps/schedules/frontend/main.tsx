// Schedules: when apps of this account do something by themselves, and how it went.
import type { App, Schedule } from '@platform/sdk/browser';
import { useRef, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useKept } from '../../shared/kept.ts';
import { startApp } from '../../shared/start-app.tsx';
import {
  changed,
  created,
  type Draft,
  draftOf,
  keyOf,
  newDraft,
  readDrafts,
  sameDraft,
  withDraft,
  withoutDraft,
} from './draft.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { ScheduleRow } from './schedule-row.tsx';
import { useSchedules } from './use-schedules.ts';
import { problemOf } from './words.ts';

startApp(Schedules);

function Schedules({ app }: { readonly app: App }) {
  const { value, failure, reload, service, running, run } = useSchedules(app);
  const [kept, setKept] = useKept<string>('drafts', '');
  const [problem, setProblem] = useState<string>();
  const add = useRef<HTMLButtonElement>(null);
  const drafts = readDrafts(kept);
  const draft = drafts.open === null ? undefined : drafts.all[drafts.open];
  const setDraft = (fresh: Draft) => setKept(JSON.stringify(withDraft(drafts, fresh)));
  /** The one that was begun, or else a fresh one; another that is open waits. */
  const begin = (fresh: Draft) => setDraft(drafts.all[keyOf(fresh.id)] ?? fresh);
  const close = () => {
    if (drafts.open !== null) setKept(JSON.stringify(withoutDraft(drafts, drafts.open)));
    add.current?.focus();
  };

  async function act(work: () => Promise<unknown>): Promise<void> {
    setProblem(undefined);
    await work().catch((error: unknown) => setProblem(problemOf(error)));
    await reload();
  }
  async function save(wanted: Draft): Promise<void> {
    const former = value?.items.find(({ id }) => id === wanted.id);
    if (former === undefined) await service.create(created(wanted));
    else await service.change(former.id, changed(wanted, former));
    close();
    await reload();
  }

  const targets = value?.targets ?? [];
  const unchanged = (typed: Draft) => {
    const former = value?.items.find(({ id }) => id === typed.id);
    return sameDraft(typed, former === undefined ? newDraft(targets) : draftOf(former));
  };
  const known = new Map(targets.map(({ appId, name }) => [appId, { name, icon: null as string | null }]));
  for (const { appId, name, icon } of value?.apps ?? []) known.set(appId, { name, icon });
  const rowOf = (schedule: Schedule) => (
    <ScheduleRow
      schedule={schedule}
      app={known.get(schedule.target.appId)}
      running={running.has(schedule.id)}
      onRun={() => void act(() => run(schedule))}
      onPause={() => void act(() => service.change(schedule.id, { enabled: !schedule.enabled }))}
      onChange={() => begin(draftOf(schedule))}
      onDelete={() => void act(() => service.remove(schedule.id)).then(() => add.current?.focus())}
    />
  );
  return (
    <main>
      <div class="row between">
        <h1>Schedules</h1>
        <button
          ref={add}
          type="button"
          class="primary"
          disabled={targets.length === 0}
          onClick={() => begin(newDraft(targets))}
        >
          Add schedule
        </button>
      </div>
      <Failure text={problem ?? failure} />
      {value !== undefined && draft !== undefined && (
        <ScheduleForm
          key={draft.id}
          isChanged={!unchanged(draft)}
          service={service}
          targets={targets}
          apps={value.apps}
          draft={draft}
          onChange={setDraft}
          onSave={() => save(draft)}
          onCancel={close}
        />
      )}
      {value?.items.length === 0 && draft === undefined && <Empty canAdd={targets.length > 0} />}
      <ul class="plain schedules">
        {value?.items.map((schedule) => (
          <li key={schedule.id}>{rowOf(schedule)}</li>
        ))}
      </ul>
    </main>
  );
}

function Empty({ canAdd }: { readonly canAdd: boolean }) {
  return (
    <section class="card below stack">
      <p>No schedules yet.</p>
      <p class="quiet">
        {canAdd
          ? 'Press “Add schedule” to have an app do something at set times, such as a report every morning.'
          : 'None of your apps can run at set times. Install one that can from the Store, then add a schedule here.'}
      </p>
    </section>
  );
}
