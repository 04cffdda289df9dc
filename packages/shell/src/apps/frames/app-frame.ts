// The frame of the app in front: its element, its exact origin, and the one port its present document may hold.
import {
  BRIDGE_VERSION,
  type BridgeContext,
  type BridgeEvent,
  type BridgeLaunched,
  FRAME_SANDBOX,
  type LaunchDescriptor,
} from '@platform/contract';
import { createGreeter, readGreeting } from '../bridge/handshake.ts';
import { type PortSession, servePort } from '../bridge/port-session.ts';

export interface AppFrameOptions {
  readonly title: string;
  /** Exact origin of the app. */
  readonly origin: string;
  /** Where the first document is, with the launch data in the fragment. */
  readonly address: string;
  readonly context: () => Promise<BridgeContext>;
  readonly answer: (method: string, params: unknown) => Promise<unknown>;
  /** Launches the app for a document that has no launch data; rejects when it may not. */
  readonly launch: () => Promise<LaunchDescriptor>;
  readonly onLoad: () => void;
  readonly onFlood: () => void;
  readonly onBug: (error: unknown) => void;
}

export interface AppFrame {
  readonly element: HTMLIFrameElement;
  /** Whether a document of this frame has greeted or asked for launch data yet. */
  hasSpoken(): boolean;
  /** Whether a message event came from this frame's window; only then is anything else of the event looked at. */
  owns(source: MessageEventSource | null): boolean;
  /** Handles a message of this frame's window. */
  greet(event: MessageEvent): void;
  /** Sends an event to the app, if its document has greeted. @returns whether it has */
  send(event: BridgeEvent): boolean;
  /** Ends the document and its port at once. */
  close(): void;
}

/** An app must never share the origin of this page: the sandbox would mean nothing. */
export function requireForeignOrigin({ origin, url }: { readonly origin: string; readonly url: string }): void {
  if (new URL(url).origin !== origin || origin === location.origin || !/^https?:\/\//.test(origin)) {
    throw new Error('The launch descriptor names an invalid app address.');
  }
}

export function createAppFrame(options: AppFrameOptions): AppFrame {
  const { origin } = options;
  requireForeignOrigin({ origin, url: options.address });
  const hellos = createGreeter(origin);
  const launches = createGreeter(origin);
  let session: PortSession | null = null;
  let spoken = false;
  let greetedSinceLoad = false;
  let loads = 0;
  let closed = false;

  const element = document.createElement('iframe');
  element.title = options.title;
  element.className = 'frame';
  element.setAttribute('sandbox', FRAME_SANDBOX);
  element.referrerPolicy = 'no-referrer';
  element.src = options.address;

  function endSession(): void {
    session?.close();
    session = null;
  }

  /** A new document that did not greet has replaced the one that did: the old port must not outlive its page. */
  element.addEventListener('load', () => {
    loads += 1;
    if (loads > 1 && !greetedSinceLoad) endSession();
    greetedSinceLoad = false;
    options.onLoad();
  });

  async function welcome(nonce: string): Promise<void> {
    const channel = new MessageChannel();
    endSession();
    const opened = servePort({
      port: channel.port1,
      answer: options.answer,
      now: () => performance.now(),
      onFlood: options.onFlood,
      onBug: options.onBug,
    });
    session = opened;
    const context = await options.context();
    // The target origin keeps the port from a document that took the frame's place in the meantime.
    if (session !== opened) return;
    const message = { type: 'platform.welcome', version: BRIDGE_VERSION, nonce, context };
    element.contentWindow?.postMessage(message, origin, [channel.port2]);
  }

  /** Only its own origin reads the answer, as only its own origin reads the fragment of a first address. */
  async function launch(nonce: string): Promise<void> {
    const descriptor = await options.launch();
    if (closed || descriptor.origin !== origin || descriptor.url === null) return;
    const fragment = new URL(descriptor.url).hash;
    const message: BridgeLaunched = { type: 'platform.launched', version: BRIDGE_VERSION, nonce, fragment };
    element.contentWindow?.postMessage(message, origin);
  }

  return {
    element,
    hasSpoken: () => spoken,
    owns: (source) => source !== null && source === element.contentWindow,
    greet(event) {
      const greeting = readGreeting(event.data);
      if (greeting === null) return;
      const isHello = greeting.type === 'platform.hello';
      if (!(isHello ? hellos : launches).accepts(event.origin, greeting)) return;
      spoken = true;
      greetedSinceLoad ||= isHello;
      (isHello ? welcome : launch)(greeting.nonce).catch(options.onBug);
    },
    send(event) {
      session?.send(event);
      return session !== null;
    },
    close() {
      closed = true;
      endSession();
      element.remove();
    },
  };
}
