// The live events of the account (`GET /v1/events`), which say when a stream had to start anew.
import type { Notification, ShellEvent } from '@platform/contract';
import { type LastingStreamOptions, openLastingStream } from './lasting-stream.ts';

type EventName = ShellEvent['event'];
type DataOf<Name extends EventName> = Extract<ShellEvent, { event: Name }>['data'];

export interface EventStreamOptions extends Pick<LastingStreamOptions, 'onLive' | 'onRefused' | 'whileHidden'> {
  readonly onNotification: (notification: Notification) => void;
  readonly onRead: (ids: readonly string[] | null) => void;
  readonly onApps: () => void;
  /** The account was paused or resumed. */
  readonly onRuntime: () => void;
  /** What notifications may do changed, here or elsewhere. */
  readonly onNotificationSettings: () => void;
  /** A stream began that may have missed events: lists should be read again. */
  readonly onFreshStart: () => void;
}

/** Opens the stream and keeps it open. @returns a function that closes it for good */
export function openEventStream(options: EventStreamOptions): () => void {
  return openLastingStream({
    ...options,
    path: '/v1/events',
    onStream(stream) {
      // When the browser itself resumes it, core sends what was missed.
      stream.addEventListener('open', () => options.onFreshStart(), { once: true });
      listen(stream, 'notification', ({ notification }) => options.onNotification(notification));
      listen(stream, 'notifications-read', ({ ids }) => options.onRead(ids));
      listen(stream, 'apps', () => options.onApps());
      listen(stream, 'runtime', () => options.onRuntime());
      listen(stream, 'notification-settings', () => options.onNotificationSettings());
    },
  });
}

function listen<Name extends EventName>(stream: EventSource, name: Name, act: (data: DataOf<Name>) => void): void {
  stream.addEventListener(name, (event) => act(JSON.parse(event.data) as DataOf<Name>));
}
