// The frame of one open app: its element, its exact origin, and the one port its present document may hold.
import { BRIDGE_VERSION, type BridgeContext, type BridgeEvent, type LaunchDescriptor } from '@platform/contract';
import { createGreeter, readHello } from '../bridge/handshake.ts';
import { type PortSession, servePort } from '../bridge/port-session.ts';
import { launchAddress } from './launch-address.ts';

/** No windows: links leave through the shell (bridge method `links.open`), which asks. */
const SANDBOX = 'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads';

export interface AppFrameOptions {
  readonly appId: string;
  readonly title: string;
  readonly descriptor: LaunchDescriptor;
  /** A place in the app. It goes into the first address too, for apps that only read that. */
  readonly target: string | null;
  readonly context: () => Promise<BridgeContext>;
  readonly answer: (method: string, params: unknown) => Promise<unknown>;
  readonly onLoad: () => void;
  readonly onFlood: () => void;
  readonly onBug: (error: unknown) => void;
}

export interface AppFrame {
  readonly element: HTMLIFrameElement;
  /** Whether a message event came from this frame's window; only then is anything else of the event looked at. */
  owns(source: MessageEventSource | null): boolean;
  /** Handles a message of this frame's window. */
  greet(event: MessageEvent): void;
  /** Sends an event to the app, if its document has greeted. @returns whether it has */
  send(event: BridgeEvent): boolean;
  close(): void;
}

/** An app must never share the origin of this page: the sandbox would mean nothing. */
function requireForeignOrigin({ origin, url }: LaunchDescriptor): void {
  if (new URL(url).origin !== origin || origin === location.origin || !/^https?:\/\//.test(origin)) {
    throw new Error('The launch descriptor names an invalid app address.');
  }
}

export function createAppFrame(options: AppFrameOptions): AppFrame {
  const { descriptor } = options;
  requireForeignOrigin(descriptor);
  const greeter = createGreeter(descriptor.origin);
  let session: PortSession | null = null;
  let greetedSinceLoad = false;
  let loads = 0;

  const element = document.createElement('iframe');
  element.title = options.title;
  element.className = 'frame';
  element.setAttribute('sandbox', SANDBOX);
  element.referrerPolicy = 'no-referrer';
  element.src = launchAddress(descriptor.url, options.target);

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
    element.contentWindow?.postMessage(message, descriptor.origin, [channel.port2]);
  }

  return {
    element,
    owns: (source) => source !== null && source === element.contentWindow,
    greet(event) {
      const hello = readHello(event.data);
      if (hello === null || !greeter.accepts(event.origin, hello)) return;
      greetedSinceLoad = true;
      welcome(hello.nonce).catch(options.onBug);
    },
    send(event) {
      session?.send(event);
      return session !== null;
    },
    close() {
      endSession();
      element.remove();
    },
  };
}
