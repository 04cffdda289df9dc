// The stage: the frame of the app in front, and over it what the shell has to say while one loads, fails or is missing.
import type { InstalledApp } from '@platform/contract';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { go, settingsAt, view } from '../../address/view.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { AppsNotListed } from '../../apps/apps-not-listed.tsx';
import { essentialApp } from '../../apps/essential-apps.ts';
import { typing } from '../../apps/frames/field-guard.ts';
import { closeApp, findOpen, frontApp, homeApp, relaunch, setStage } from '../../apps/frames/open-apps.ts';
import { followResting } from '../../apps/frames/resting-backends.ts';
import { findApp, installedApps, listingFailure, nameOf } from '../../apps/installed-apps.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { isBarShown } from '../bar/immersion.ts';
import { InstallAgain, PlainHome } from '../home/plain-home.tsx';
import { prompt } from '../prompts/ask.tsx';
import { SettingsView } from '../settings/settings-view.tsx';
import { Resting } from './resting.tsx';

/** A click into a frame is not seen by this page; without this, open menus would stay open over the app. */
function closePanelsOnLeave(): () => void {
  const close = () => {
    if (!(document.activeElement instanceof HTMLIFrameElement)) return;
    for (const panel of document.querySelectorAll<HTMLElement>('[popover]:popover-open')) panel.hidePopover();
  };
  window.addEventListener('blur', close);
  return () => window.removeEventListener('blur', close);
}

export function Stage() {
  const frames = useRef<HTMLDivElement>(null);
  useEffect(() => setStage(frames.current), []);
  useEffect(closePanelsOnLeave, []);
  useEffect(followResting, []);
  const name = view.value.kind === 'settings' ? 'Settings' : nameOf(frontApp.value ?? homeApp.value);
  return (
    // The name sets this landmark apart from the one an app draws in its frame.
    <main
      class={isBarShown.value ? 'stage' : 'stage immersive'}
      aria-label={`${name}, shown by the platform`}
      inert={prompt.value !== null}
    >
      <h1 class="only-read">{name}</h1>
      <div class="frames" ref={frames} inert={typing.value} />
      <FrameShield />
      {view.value.kind === 'settings' ? <SettingsView path={view.value.path} /> : <FrontState />}
    </main>
  );
}

const SHIELD_MS = 250;

/**
 * Keeps presses from a frame for a moment after it came to the front. A press meant for what was there before must not
 * count in an app that was opened under the pointer, by another app or by a prompt that went away. While the person
 * types into the shell, a press on the app only ends that.
 */
function FrameShield() {
  const settled = useSignal(false);
  const front = frontApp.value;
  const ready = front !== null && findOpen(front)?.phase === 'ready';
  const asked = prompt.value !== null;
  useLayoutEffect(() => {
    settled.value = false;
    const timer = setTimeout(() => (settled.value = true), SHIELD_MS);
    return () => clearTimeout(timer);
  }, [front, ready, asked]);
  // As a signal it reaches the document at once, not with the next rendering.
  const hidden = useComputed(() => settled.value && !typing.value);
  return <div class="frame-shield" hidden={hidden} />;
}

function FrontState() {
  const appId = frontApp.value;
  if (appId === null) return null;
  if (installedApps.value === null) return listingFailure.value === null ? <Loading name="your apps" /> : <Unlisted />;
  const app = findApp(appId);
  if (app === undefined) return view.value.kind === 'home' ? <PlainHome /> : <Missing appId={appId} />;
  if (!app.hasFrontend) return <WithoutFrontend app={app} />;
  const open = findOpen(appId);
  if (open?.resting != null) return <Resting appId={appId} status={open.resting} />;
  if (open?.phase === 'failed') return <Failed appId={appId} name={app.name} failure={open.failure ?? ''} />;
  if (open?.phase === 'withheld') return <Withheld app={app} />;
  if (open?.phase !== 'ready') return <Loading key={appId} name={app.name} icon={app.icon} appId={appId} />;
  return null;
}

function Unlisted() {
  return (
    <div class="front-state">
      <h2>Your apps could not be listed</h2>
      <AppsNotListed lines={0} label="Loading your apps" />
    </div>
  );
}

const SLOW_MS = 10_000;

function Loading({ name, icon = null, appId }: { name: string; icon?: string | null; appId?: string }) {
  const slow = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (slow.value = true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="front-state arriving">
      {appId === undefined ? null : <AppPicture appId={appId} name={name} path={icon} size="large" />}
      <Skeleton lines={0} label={`Loading ${name}`} />
      <span class="progress" aria-hidden="true" />
      {slow.value && (
        <div role="status">
          <p>{name} is taking a long time to load.</p>
          {appId !== undefined && (
            <Button icon="refresh" onClick={() => relaunch(appId)}>
              Load it again
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function Withheld({ app: { appId, name, icon } }: { readonly app: InstalledApp }) {
  return (
    <div class="front-state">
      <AppPicture appId={appId} name={name} path={icon} size="large" />
      <h2>
        {name} is closed while you {prompt.value === null ? 'type' : 'answer'}
      </h2>
      <p role="status">It tried to take over the keyboard. It opens again as soon as you are done.</p>
    </div>
  );
}

function Failed({ appId, name, failure }: { readonly appId: string; readonly name: string; readonly failure: string }) {
  const app = findApp(appId);
  return (
    <div class="front-state">
      <AppPicture appId={appId} name={name} path={app?.icon ?? null} size="large" />
      <h2>{name} did not open</h2>
      <Note tone="danger">{failure}</Note>
      <div class="buttons">
        <Button kind="primary" icon="refresh" onClick={() => relaunch(appId)}>
          Try again
        </Button>
        {app?.hasWorkload === true && (
          <Button icon="log" onClick={() => go(settingsAt('apps/:appId/log', { appId }))}>
            See its log
          </Button>
        )}
        {view.value.kind === 'app' && (
          <Button kind="quiet" onClick={() => closeApp(appId)}>
            Close
          </Button>
        )}
      </div>
    </div>
  );
}

function Missing({ appId }: { readonly appId: string }) {
  const again = essentialApp(appId) !== undefined;
  return (
    <div class="front-state">
      <Empty icon="box" title={`“${appId}” is not installed`}>
        It may have been removed.{' '}
        {again ? 'Its data is kept.' : 'You can install it again in the Store; its data is kept.'}
      </Empty>
      {again && <InstallAgain appId={appId} />}
      <Button kind={again ? 'plain' : 'primary'} icon="home" onClick={() => go({ kind: 'home' })}>
        Go home
      </Button>
    </div>
  );
}

function WithoutFrontend({ app }: { readonly app: InstalledApp }) {
  return (
    <div class="front-state">
      <AppPicture appId={app.appId} name={app.name} path={app.icon} size="large" />
      <h2>{app.name} has no window</h2>
      <p>
        {app.hasUnreviewedWorkload
          ? 'Its backend came with an update and stays off until you allow it in Settings.'
          : 'It runs in the background. Its state and log are in Settings.'}
      </p>
      <Button kind="primary" onClick={() => go(settingsAt('apps/:appId', { appId: app.appId }))}>
        Show it in Settings
      </Button>
    </div>
  );
}
