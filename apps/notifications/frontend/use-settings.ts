// The settings of notifications, asked of the shell: this app has no session with core.
import type { App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { useLoaded } from '../../shared/use-loaded.ts';

type Answer = Awaited<ReturnType<typeof read>>;

/** `topic` null is the whole app. */
export interface Mute {
  readonly appId: string;
  readonly topic: string | null;
  readonly muted: boolean;
}

export interface Settings {
  /** `undefined` until the first answer. */
  readonly value: Answer | undefined;
  readonly failure: string | undefined;
  isMuted(appId: string, topic: string): boolean;
  change(surfaces: {
    readonly flashes?: boolean;
    readonly system?: boolean;
    readonly webPush?: boolean;
  }): Promise<void>;
  mute(mute: Mute): Promise<void>;
}

function read(app: App) {
  return app.bridge.call('notifications.settings');
}

export function useSettings(app: App): Settings {
  const loaded = useLoaded(app, async () => {
    const fresh = await read(app);
    setChanged(undefined);
    return fresh;
  });
  // What a change answered is newer than what was loaded, until the next reading.
  const [changed, setChanged] = useState<Answer>();
  const value = changed ?? loaded.value;
  return {
    value,
    failure: loaded.failure,
    isMuted: (appId, topic) =>
      value?.muted.some((mute) => mute.appId === appId && (mute.topic === null || mute.topic === topic)) === true,
    change: async (surfaces) => setChanged(await app.bridge.call('notifications.surfaces', surfaces)),
    mute: async ({ appId, topic, muted }) =>
      setChanged(await app.bridge.call('notifications.mute', { appId, muted, ...(topic === null ? {} : { topic }) })),
  };
}
