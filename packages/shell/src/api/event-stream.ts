// The live events of the account (`GET /v1/events`), which say when a stream had to start anew.
import type { Notification, ShellEvent } from '@platform/contract';
import { type LastingStreamOptions, openLastingStream } from './lasting-stream.ts';

export interface EventStreamOptions extends Pick<LastingStreamOptions, 'onLive' | 'whileHidden'> {
  readonly onNotification: (notification: Notification) => void;
  readonly onRead: (ids: readonly string[] | null) => void;
  readonly onApps: () => void;
  /** An app made an app, or one no longer waits for the person. */
  readonly onDrafts: () => void;
  /** This agent asks its person something, or asks no more. */
  readonly onAgent: (appId: string) => void;
  /** The account was paused or resumed. */
  readonly onRuntime: () => void;
  /** What notifications may do changed, here or elsewhere. */
  readonly onNotificationSettings: () => void;
  /** What apps propose changed. */
  readonly onProposals: () => void;
  /** Something of the wallet changed. */
  readonly onWallet: () => void;
  /** A stream began that may have missed events: lists should be read again. */
  readonly onFreshStart: () => void;
}

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openEventStream(options: EventStreamOptions): () => void {
  return openLastingStream({
    ...options,
    path: '/v1/events',
    onBegin: options.onFreshStart,
    // Core proves its events against their schema; here they are trusted to have the shape it names.
    onEvent: (event) => follow(event as ShellEvent, options),
  });
}

function follow(live: ShellEvent, options: EventStreamOptions): void {
  switch (live.event) {
    case 'notification':
      options.onNotification(live.data.notification);
      break;
    case 'notifications-read':
      options.onRead(live.data.ids);
      break;
    case 'apps':
      options.onApps();
      break;
    case 'drafts':
      options.onDrafts();
      break;
    case 'agent':
      options.onAgent(live.data.appId);
      break;
    case 'runtime':
      options.onRuntime();
      break;
    case 'notification-settings':
      options.onNotificationSettings();
      break;
    case 'proposals':
      options.onProposals();
      break;
    case 'wallet':
      options.onWallet();
      break;
  }
}
