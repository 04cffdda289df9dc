// What the home screen shows: the apps, the state of their backends, and the order in which the person put them.

import { type App, type InstalledApp, PlatformError, type WorkloadStatus } from '@platform/sdk/browser';
import { type Arranged, arrange, type HomeTiles, moveTile, type Section, UNARRANGED } from '@platform/shell/arrange';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';

/** Between two looks at backends that are starting: each will run or have failed. */
const STARTING_MS = 3_000;

export interface Place {
  readonly section: Section;
  readonly index: number;
}

export interface Tiles {
  /** There is no app of the person's own yet, and never was. */
  readonly atTheBeginning: boolean;
  readonly arranged: Arranged<InstalledApp>;
  /** By app id; empty while Launcher may not see them. */
  readonly states: ReadonlyMap<string, WorkloadStatus>;
  /** Only the home screen may. */
  readonly mayArrange: boolean;
  readonly failure: string | undefined;
  /** What moved last, for screen readers. */
  readonly said: string;
  readonly nameOf: (appId: string) => string;
  readonly move: (app: InstalledApp, to: Place) => void;
  readonly reload: () => Promise<void>;
}

export function useTiles(app: App): Tiles {
  const apps = useLoaded(app, async () => {
    const [installed, tiles] = await Promise.all([
      app.apps.list(),
      app.bridge.call('launcher.tiles').catch(unlessRefused),
    ]);
    return { installed, tiles };
  });
  // Apart from the list: a node that does not answer must not keep the home screen away.
  const backends = useLoaded(app, async () => {
    if (!app.context.capabilities.some(({ id }) => id === 'runtime.status.read'))
      return new Map<string, WorkloadStatus>();
    const { items } = await app.bridge.call('runtime.status', {});
    return new Map(items.map(({ appId, status }) => [appId, status]));
  });
  const starting = [...(backends.value ?? new Map<string, WorkloadStatus>()).values()].some(
    ({ state }) => state === 'starting',
  );
  useEffect(() => {
    if (!starting) return;
    const timer = setInterval(() => void backends.reload(), STARTING_MS);
    return () => clearInterval(timer);
  }, [starting]);
  /** What was moved here and is not confirmed. */
  const [moved, setMoved] = useState<HomeTiles>();
  const latest = useRef<HomeTiles>(undefined);
  const sending = useRef(Promise.resolve());
  const [failure, setFailure] = useState<string>();
  const [said, setSaid] = useState('');
  const { installed = [], tiles } = apps.value ?? {};
  const shown = installed.filter(({ appId, hasFrontend }) => hasFrontend && appId !== app.appId);
  const arranged = arrange(shown, moved ?? tiles ?? UNARRANGED);

  function keep(wanted: HomeTiles): void {
    setFailure(undefined);
    setMoved(wanted);
    latest.current = wanted;
    sending.current = sending.current.then(() => send(wanted));
  }

  /** One after the other, so that core keeps the last; one that is outdated before its turn is not sent. */
  async function send(wanted: HomeTiles): Promise<void> {
    const isLatest = () => latest.current === wanted;
    if (!isLatest()) return;
    try {
      await app.bridge.call('launcher.arrange', wanted);
      if (isLatest()) await apps.reload();
    } catch (error) {
      if (isLatest()) setFailure(messageOf(error));
    } finally {
      if (isLatest()) setMoved(undefined);
    }
  }

  return {
    atTheBeginning: tiles?.begun === false,
    arranged,
    states: backends.value ?? new Map(),
    mayArrange: tiles !== undefined,
    failure: failure ?? apps.failure,
    said,
    nameOf: (appId) => installed.find((each) => each.appId === appId)?.name ?? appId,
    move: ({ appId, name }, to) => {
      const wanted = moveTile(arranged, appId, to);
      const list = arrange(shown, wanted)[to.section];
      const where = `position ${list.findIndex((each) => each.appId === appId) + 1} of ${list.length}`;
      setSaid(`${name}: ${to.section === 'pinned' ? 'pinned, ' : ''}${where}`);
      keep(wanted);
    },
    reload: async () => {
      await Promise.all([apps.reload(), backends.reload()]);
    },
  };
}

/** Another app is the home screen, or Launcher may not be it: the tiles are in the order of their names. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof PlatformError && (error.code === 'not_authorized' || error.code === 'grant_missing')) return;
  throw error;
}
