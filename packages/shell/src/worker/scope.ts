// What a service worker is given by its browser (Service Workers, Push API, Notifications API): the few members that ours
// uses. The library of workers cannot be loaded beside the one of pages: they contradict each other.
export interface ExtendableEvent extends Event {
  /** The worker is kept alive until the work has ended. */
  waitUntil(work: Promise<unknown>): void;
}

export interface PushEvent extends ExtendableEvent {
  readonly data: { text(): string } | null;
}

export interface NotificationPress extends ExtendableEvent {
  readonly notification: Notification;
}

/** Some browsers name neither the former subscription nor the new one. */
export interface SubscriptionChange extends ExtendableEvent {
  readonly oldSubscription?: PushSubscription | null;
  readonly newSubscription?: PushSubscription | null;
}

export interface WindowClient {
  readonly focused: boolean;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

export interface InstallEvent extends ExtendableEvent {
  /** Of the newer browsers: which requests go past the worker. */
  addRoutes?(rules: readonly object[]): Promise<void>;
}

export interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface WorkerEvents {
  readonly install: InstallEvent;
  readonly fetch: FetchEvent;
  readonly push: PushEvent;
  readonly notificationclick: NotificationPress;
  readonly pushsubscriptionchange: SubscriptionChange;
}

export interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  skipWaiting(): Promise<void>;
  readonly clients: {
    matchAll(options: { readonly type: 'window'; readonly includeUncontrolled: boolean }): Promise<WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener<Name extends keyof WorkerEvents>(name: Name, listener: (event: WorkerEvents[Name]) => void): void;
}
