// The schedules of the account with the apps they call, read anew while they are seen: more often after “Run now”.
import type { App, Schedule } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { useLoaded } from '../../shared/use-loaded.ts';

const REFRESH_MILLISECONDS = 10_000;
const RUNNING_MILLISECONDS = 1_000;
/** More than an account can have. */
const ALL = 200;

export function useSchedules(app: App) {
  const service = app.schedules();
  const { value, failure, reload } = useLoaded(app, async () => {
    const [{ items }, targets, apps] = await Promise.all([
      service.list({ limit: ALL }),
      service.targets(),
      // Without the permission for names and pictures the schedules are of use all the same.
      app.apps.list().catch(() => []),
    ]);
    return { items, targets, apps };
  });
  /** How the last run of those started by hand had ended before, by id. */
  const [started, setStarted] = useState<ReadonlyMap<string, string | undefined>>(new Map());
  const running = new Set(
    value?.items.filter(({ id, lastRun }) => started.has(id) && started.get(id) === lastRun?.at).map(({ id }) => id),
  );
  const pause = running.size > 0 ? RUNNING_MILLISECONDS : REFRESH_MILLISECONDS;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void reload();
    }, pause);
    return () => clearInterval(timer);
  }, [pause, reload]);
  return {
    value,
    failure,
    reload,
    service,
    running,
    async run({ id }: Schedule): Promise<void> {
      const { lastRun } = await service.run(id);
      setStarted((before) => new Map([...before, [id, lastRun?.at]]));
    },
  };
}
