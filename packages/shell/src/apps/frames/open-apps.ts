// Which apps are open in this page, and the one frame there is: that of the app in front. An app that is left is
// unloaded at once, so that it can neither take the focus nor go on; it is launched again where it was left.
import type { BridgeEvent, InstalledApp, LaunchDescriptor, WorkloadDetail } from '@platform/contract';
import { computed, effect, signal, untracked } from '@preact/signals';
import { go, SETTINGS_APP, settingsAt, view } from '../../address/view.ts';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { onceLiveAgain } from '../../api/live.ts';
import { addressAtPlace, addressAtTarget } from '../bridge/place.ts';
import { findApp, installedApps, nameOf } from '../installed-apps.ts';
import { pausedAt } from '../pause.ts';
import { type AppFrame, createAppFrame } from './app-frame.ts';
import { forgetPlace, keepInstalled, placeOf } from './kept.ts';

export interface OpenApp {
  readonly appId: string;
  /** Exact origin of its frame; empty until it is launched. */
  readonly origin: string;
  /**
   * `unloaded`: without a frame, since another one is in front. `withheld`: in front, and without a frame for as long as
   * the person types into the shell, because it took the focus from there. `resting`: its backend waits for a person.
   */
  readonly phase: 'unloaded' | 'launching' | 'loading' | 'ready' | 'failed' | 'withheld' | 'resting';
  /** One sentence, when it failed. */
  readonly failure: string | null;
  /** The state of its backend, while it rests. */
  readonly resting: WorkloadDetail | null;
  /** `never` asks for the whole window, without the bar. */
  readonly chrome: 'auto' | 'always' | 'never';
  /** What the app says it shows, beside its name. */
  readonly title: string;
}

/** How the bridge answers; given once at start so that frames and bridge need not know each other's files. */
export interface FrameBridge {
  context(appId: string, target: string | null): ReturnType<Parameters<typeof createAppFrame>[0]['context']>;
  answer(appId: string, method: string, params: unknown): Promise<unknown>;
  flooded(appId: string): void;
}

export const DEFAULT_HOME = 'launcher';
const NEW = { origin: '', phase: 'unloaded', failure: null, resting: null, chrome: 'auto', title: '' } as const;
/** A document that was opened where its app was left, and says nothing for so long, is not a page of the app any more. */
const SILENCE_MS = 5_000;

export const openApps = signal<readonly OpenApp[]>([]);
/** As core says; Launcher until it is known. */
export const homeApp = computed(() => installedApps.value?.find(({ home }) => home)?.appId ?? DEFAULT_HOME);

/** The app whose frame the stage shows; `null` on the shell's own pages. */
export const frontApp = computed<string | null>(() => {
  if (view.value.kind === 'settings') return null;
  return view.value.kind === 'home' ? homeApp.value : view.value.appId;
});

/** The one frame, from its launch on. */
interface Live {
  readonly appId: string;
  /** `null` until core has answered the launch. */
  frame: AppFrame | null;
}

let live: Live | null = null;
/** Targets for documents that have not asked for their context yet. */
const targets = new Map<string, string>();
/** The version of each installed app at the last look. */
const versions = new Map<string, string>();
let stage: HTMLElement | null = null;
let bridge: FrameBridge | null = null;

/** Where the frame lives. It is placed by hand: moving a frame in the document would load it anew. */
export function setStage(element: HTMLElement | null): void {
  stage = element;
  if (live?.frame) stage?.append(live.frame.element);
}

/** Listens for greetings of the frame, loads what is in front, and closes what is no longer installed. */
export function startFrames(answers: FrameBridge): void {
  bridge = answers;
  window.addEventListener('message', (event) => {
    if (!live?.frame?.owns(event.source)) return;
    live.frame.greet(event);
    const { appId } = live;
    // Apart from the first load: only apps that apps made say so.
    if (event.data?.type === 'platform.page-error' && event.origin === findOpen(appId)?.origin)
      import('./page-errors.ts')
        .then(({ reportPageError }) => reportPageError(appId, event.data))
        .catch(() => undefined);
  });
  effect(() => {
    const front = frontApp.value;
    if (live === null || live.appId === front) return;
    // An app that does not use the SDK never asked for it.
    targets.delete(live.appId);
    untracked(() => unload('unloaded'));
  });
  onceLiveAgain(() => {
    const front = frontApp.value;
    if (front !== null && findOpen(front)?.phase === 'failed') relaunch(front);
  });
  effect(() => {
    if (typeof pausedAt.value === 'string') untracked(closeEverything);
  });
  effect(() => {
    if (installedApps.value !== null) keepInstalled(installedApps.value);
  });
  effect(() => {
    const installed = installedApps.value;
    const front = frontApp.value;
    // Nothing is opened while everything is paused, nor before that is known.
    if (installed === null || pausedAt.value !== null) return;
    const isInstalled = (appId: string) => installed.some((app) => app.appId === appId);
    untracked(() => {
      for (const { appId } of openApps.value) if (!isInstalled(appId)) closeApp(appId);
      for (const app of installed) reloadWhenReplaced(app);
      if (front !== null && isInstalled(front)) show(front);
    });
  });
}

function update(appId: string, change: Partial<OpenApp>): void {
  openApps.value = openApps.value.map((open) => (open.appId === appId ? { ...open, ...change } : open));
}

export function findOpen(appId: string): OpenApp | undefined {
  return openApps.value.find((open) => open.appId === appId);
}

/** Loads the app in front, unless it is there, was tried in vain or has to wait. */
function show(appId: string): void {
  ensureListed(appId);
  if (findOpen(appId)?.phase === 'unloaded') void launch(appId);
}

function ensureListed(appId: string): void {
  if (findOpen(appId) === undefined) openApps.value = [...openApps.value, { ...NEW, appId }];
}

/** Ends the frame there is, whatever its document is doing. */
function unload(phase: 'unloaded' | 'withheld' | 'resting'): void {
  const left = live;
  if (left === null) return;
  live = null;
  left.frame?.close();
  update(left.appId, { phase, failure: null });
}

async function launch(appId: string): Promise<void> {
  const answers = bridge;
  if (answers === null) throw new Error('startFrames was not called.');
  unload('unloaded');
  const mine: Live = { appId, frame: null };
  live = mine;
  update(appId, { phase: 'launching', failure: null, resting: null });
  try {
    const descriptor = await call('apps.launch', { params: { appId } });
    // Meanwhile the person may have gone elsewhere, and come back to another launch.
    if (live !== mine) return;
    // Another version without one was installed in another window.
    if (descriptor.url === null) throw new Error('This app has no page to open any more.');
    mine.frame = frameOf(appId, { ...descriptor, url: descriptor.url }, answers);
    update(appId, { phase: 'loading', origin: descriptor.origin, chrome: descriptor.chrome });
    stage?.append(mine.frame.element);
  } catch (error) {
    if (live !== mine) return;
    live = null;
    update(appId, { phase: 'failed', failure: plainMessage(error) });
  }
}

function frameOf(
  appId: string,
  descriptor: LaunchDescriptor & { readonly url: string },
  answers: FrameBridge,
): AppFrame {
  const target = targets.get(appId) ?? null;
  const place = target === null ? placeOf(appId) : null;
  const frame = createAppFrame({
    title: nameOf(appId),
    origin: descriptor.origin,
    address: addressOf(descriptor.url, target, place),
    context: () => {
      const wanted = targets.get(appId) ?? null;
      targets.delete(appId);
      return answers.context(appId, wanted);
    },
    answer: (method, params) => answers.answer(appId, method, params),
    launch: () => call('apps.launch', { params: { appId } }),
    onLoad: () => {
      update(appId, { phase: 'ready' });
      if (place !== null && !frame.hasSpoken()) setTimeout(beginAnewIfSilent, SILENCE_MS);
    },
    onFlood: () => answers.flooded(appId),
    onBug: (error) => console.error('bridge', appId, error),
  });

  function beginAnewIfSilent(): void {
    if (live?.frame !== frame || frame.hasSpoken()) return;
    forgetPlace(appId);
    relaunch(appId);
  }

  return frame;
}

function addressOf(url: string, target: string | null, place: string | null): string {
  if (target !== null) return addressAtTarget(url, target);
  return place === null ? url : addressAtPlace(url, place);
}

/** Another version took the app's place: its page is of the former one, whose files are no longer served. */
function reloadWhenReplaced({ appId, version }: InstalledApp): void {
  const former = versions.get(appId);
  versions.set(appId, version);
  if (former !== undefined && former !== version && live?.appId === appId) relaunch(appId);
}

/** Brings the app to the front, opening it where needed; `target` is a place in it, such as `?note=1` or `/notes/1`. */
export function openApp(appId: string, target: string | null = null): void {
  // One Settings: the tile leads to the pages of the shell itself.
  if (appId === SETTINGS_APP) {
    go(settingsAt('apps'));
    return;
  }
  if (findApp(appId)?.hasFrontend === false) {
    go(settingsAt('apps/:appId', { appId }));
    return;
  }
  if (target !== null) deliver(appId, target);
  ensureListed(appId);
  go(appId === homeApp.value ? { kind: 'home' } : { kind: 'app', appId });
}

function deliver(appId: string, target: string): void {
  const frame = live?.appId === appId ? live.frame : null;
  if (frame?.send({ event: 'target', data: { target } })) return;
  targets.set(appId, target);
  // A page that does not speak with this one learns of a place only by being opened there.
  if (frame !== null && findOpen(appId)?.phase === 'ready') relaunch(appId);
}

/** Loads the app in front anew. */
export function relaunch(appId: string): void {
  if (frontApp.value === appId) void launch(appId);
}

/**
 * Ends the frame of the app in front while the person types into the shell: it took the focus from there, and a key that
 * comes too late must find nobody. @returns the way to have it back, at the place where it was
 */
export function withhold(): () => void {
  const appId = live?.appId;
  unload('withheld');
  return () => {
    if (appId === undefined || findOpen(appId)?.phase !== 'withheld') return;
    update(appId, { phase: 'unloaded' });
    if (frontApp.value === appId) show(appId);
  };
}

/** Ends the frame of the app in front, whose backend rests; {@link relaunch} opens it all the same. */
export function rest(appId: string, status: WorkloadDetail): void {
  if (frontApp.value !== appId) return;
  unload('unloaded');
  // Its state may be known before it is known that nothing is paused, and so before the app was opened.
  ensureListed(appId);
  update(appId, { phase: 'resting', failure: null, resting: status });
}

/** Closes the app: its frame goes, and its port with it. It begins anew when it is opened again. */
export function closeApp(appId: string): void {
  if (live?.appId === appId) unload('unloaded');
  targets.delete(appId);
  forgetPlace(appId);
  const wasInFront = frontApp.value === appId;
  openApps.value = openApps.value.filter((open) => open.appId !== appId);
  if (wasInFront && view.value.kind === 'app') go({ kind: 'home' });
}

/** Everything is paused: no page of an app stays, and none comes back by itself but the one in front. */
function closeEverything(): void {
  unload('unloaded');
  targets.clear();
  openApps.value = [];
}

export function setAppTitle(appId: string, title: string): void {
  update(appId, { title });
}

/** Sends an event to the app in front, if `wanted` gives one for it. */
export function sendToFront(wanted: (appId: string) => BridgeEvent | null): void {
  if (live === null) return;
  const event = wanted(live.appId);
  if (event !== null) live.frame?.send(event);
}
