// Which apps are open in this page, and the way each gets there: launch, frame, ready, closed.
import type { BridgeEvent, InstalledApp } from '@platform/contract';
import { computed, effect, signal, untracked } from '@preact/signals';
import { plainMessage } from '../api/api-error.ts';
import { call } from '../api/client.ts';
import { pausedAt } from '../pause.ts';
import { go, view } from '../view.ts';
import { type AppFrame, createAppFrame } from './app-frame.ts';
import { findApp, installedApps, nameOf } from './installed-apps.ts';

export interface OpenApp {
  readonly appId: string;
  /** Exact origin of its frame; empty until it is launched. */
  readonly origin: string;
  readonly phase: 'launching' | 'loading' | 'ready' | 'failed';
  /** One sentence, when it failed. */
  readonly failure: string | null;
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
const NEW = { origin: '', phase: 'launching', failure: null, chrome: 'auto', title: '' } as const;

export const openApps = signal<readonly OpenApp[]>([]);
export const homeApp = signal<string>(DEFAULT_HOME);

/** The app whose frame the stage shows; `null` on the shell's own pages. */
export const frontApp = computed<string | null>(() => {
  if (view.value.kind === 'settings') return null;
  return view.value.kind === 'home' ? homeApp.value : view.value.appId;
});

const frames = new Map<string, AppFrame>();
/** Targets for documents that have not asked for their context yet. */
const targets = new Map<string, string>();
/** The version of each installed app at the last look. */
const versions = new Map<string, string>();
let stage: HTMLElement | null = null;
let bridge: FrameBridge | null = null;

/** Where frames live. They are placed by hand: moving a frame in the document would load it anew. */
export function setStage(element: HTMLElement | null): void {
  stage = element;
  for (const frame of frames.values()) stage?.append(frame.element);
}

/** Listens for greetings of frames, keeps what is in front open, and closes what is no longer installed. */
export function startFrames(answers: FrameBridge): void {
  bridge = answers;
  window.addEventListener('message', (event) => {
    for (const frame of frames.values()) if (frame.owns(event.source)) frame.greet(event);
  });
  effect(() => {
    void frontApp.value;
    arrangeFrames();
  });
  effect(() => {
    if (typeof pausedAt.value === 'string') untracked(closeEverything);
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
      if (front !== null && isInstalled(front)) ensureOpen(front);
    });
  });
}

function update(appId: string, change: Partial<OpenApp>): void {
  openApps.value = openApps.value.map((open) => (open.appId === appId ? { ...open, ...change } : open));
}

export function findOpen(appId: string): OpenApp | undefined {
  return openApps.value.find((open) => open.appId === appId);
}

/** Shows only the frame in front; the others stay alive and hidden. */
function arrangeFrames(): void {
  for (const [appId, frame] of frames) frame.element.hidden = appId !== frontApp.value;
}

async function launch(appId: string): Promise<void> {
  const answers = bridge;
  if (answers === null) throw new Error('startFrames was not called.');
  update(appId, { phase: 'launching', failure: null });
  try {
    const descriptor = await call('apps.launch', { params: { appId } });
    if (findOpen(appId) === undefined) return;
    frames.get(appId)?.close();
    const frame = createAppFrame({
      appId,
      title: nameOf(appId),
      descriptor,
      target: targets.get(appId) ?? null,
      context: () => {
        const target = targets.get(appId) ?? null;
        targets.delete(appId);
        return answers.context(appId, target);
      },
      answer: (method, params) => answers.answer(appId, method, params),
      onLoad: () => update(appId, { phase: 'ready' }),
      onFlood: () => answers.flooded(appId),
      onBug: (error) => console.error('bridge', appId, error),
    });
    frames.set(appId, frame);
    update(appId, { phase: 'loading', origin: descriptor.origin, chrome: descriptor.chrome });
    arrangeFrames();
    stage?.append(frame.element);
  } catch (error) {
    update(appId, { phase: 'failed', failure: plainMessage(error) });
  }
}

/** Another version took the app's place: its open page is of the former one, whose files are no longer served. */
function reloadWhenReplaced({ appId, version }: InstalledApp): void {
  const former = versions.get(appId);
  versions.set(appId, version);
  if (former !== undefined && former !== version && findOpen(appId) !== undefined) relaunch(appId);
}

/** Makes sure the app runs, without bringing it to the front. */
export function ensureOpen(appId: string): void {
  if (findOpen(appId) !== undefined) return;
  openApps.value = [...openApps.value, { ...NEW, appId }];
  void launch(appId);
}

/** Brings the app to the front, opening it where needed; `target` is a place in it, such as `?note=1` or `/notes/1`. */
export function openApp(appId: string, target: string | null = null): void {
  if (findApp(appId)?.hasFrontend === false) {
    go({ kind: 'settings', page: 'app', appId });
    return;
  }
  if (target !== null) deliver(appId, target);
  ensureOpen(appId);
  go(appId === homeApp.value ? { kind: 'home' } : { kind: 'app', appId });
}

function deliver(appId: string, target: string): void {
  const delivered = frames.get(appId)?.send({ event: 'target', data: { target } }) ?? false;
  if (delivered) return;
  targets.set(appId, target);
  // A page that does not speak with this one learns of a place only by being opened there.
  if (findOpen(appId)?.phase === 'ready') relaunch(appId);
}

export function relaunch(appId: string): void {
  frames.get(appId)?.close();
  frames.delete(appId);
  void launch(appId);
}

/** Closes the app: its frame goes, and its port with it. */
export function closeApp(appId: string): void {
  frames.get(appId)?.close();
  frames.delete(appId);
  targets.delete(appId);
  const wasInFront = frontApp.value === appId;
  openApps.value = openApps.value.filter((open) => open.appId !== appId);
  if (wasInFront && view.value.kind === 'app') go({ kind: 'home' });
}

/** Everything is paused: no page of an app stays, and none comes back by itself but the one in front. */
function closeEverything(): void {
  for (const frame of frames.values()) frame.close();
  frames.clear();
  targets.clear();
  openApps.value = [];
}

export function setAppTitle(appId: string, title: string): void {
  update(appId, { title });
}

/** Sends an event to the open apps for which `wanted` gives one. */
export function sendToApps(wanted: (appId: string) => BridgeEvent | null): void {
  for (const [appId, frame] of frames) {
    const event = wanted(appId);
    if (event !== null) frame.send(event);
  }
}
