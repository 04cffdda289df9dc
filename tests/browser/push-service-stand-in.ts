// What stands in for the browser's own push service, which is a company's on the internet: `PushManager` of a page answers
// with a subscription at the test's push service, whose keys the test holds. Runs in the page, before its own scripts.

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
  const subscription = {
    endpoint,
    options: { userVisibleOnly: true, applicationServerKey: null },
    toJSON: () => ({ endpoint, expirationTime: null, keys }),
    unsubscribe: async () => {
      localStorage.removeItem(KEPT);
      return true;
    },
  };
  const current = () => (localStorage.getItem(KEPT) === null ? null : subscription);
  Object.assign(PushManager.prototype, {
    getSubscription: async () => current(),
    subscribe: async ({ userVisibleOnly, applicationServerKey }: PushSubscriptionOptionsInit) => {
      if (userVisibleOnly !== true || applicationServerKey !== publicKey) throw new TypeError('not what was agreed');
      if (mood === 'hangs') return await new Promise(() => undefined);
      localStorage.setItem(KEPT, 'yes');
      return subscription;
    },
  });
}
