// What stands in for the browser's own push service, which is a company's on the internet: `PushManager` answers with a
// subscription at the test's push service, whose keys the test holds. Runs in a page, before its own scripts, and in the
// service worker.

export interface StandIn {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  /** The one key that it takes, as a real one does later. */
  readonly publicKey: string;
  /** `hangs`: as a browser without a push service. */
  readonly mood: 'answers' | 'hangs';
}

/** The subscription is kept with the origin, as real ones are: another page finds it. */
export function standInForPushService({ endpoint, keys, publicKey, mood }: StandIn): void {
  const KEPT = 'test.subscription';
  const memory = new Map<string, string>();
  // Service workers have no such store: what one of them subscribed, it alone knows here.
  const store = globalThis.localStorage ?? {
    getItem: (key: string) => memory.get(key) ?? null,
    setItem: (key: string, value: string) => void memory.set(key, value),
    removeItem: (key: string) => void memory.delete(key),
  };
  const subscription = {
    endpoint,
    options: { userVisibleOnly: true, applicationServerKey: null },
    toJSON: () => ({ endpoint, expirationTime: null, keys }),
    unsubscribe: async () => {
      store.removeItem(KEPT);
      return true;
    },
  };
  const current = () => (store.getItem(KEPT) === null ? null : subscription);
  Object.assign(PushManager.prototype, {
    getSubscription: async () => current(),
    subscribe: async ({ userVisibleOnly, applicationServerKey }: PushSubscriptionOptionsInit) => {
      if (userVisibleOnly !== true || applicationServerKey !== publicKey) throw new TypeError('not what was agreed');
      if (mood === 'hangs') return await new Promise(() => undefined);
      store.setItem(KEPT, 'yes');
      return subscription;
    },
  });
}
