// The pictures of apps, asked for one by one as they come into view. A Store of hundreds of apps shows a screenful of them, and a
// press on a button does not wait behind the rest.
import type { App } from '@platform/sdk/browser';

/** Of the calls that the shell carries out for one app at a time, what leaves one to the person. */
const AT_ONCE = 2;

interface Wanted {
  readonly appId: string;
  readonly version: string;
}

interface Waiting {
  readonly wanted: Wanted;
  readonly show: (icon: string | null) => void;
}

export class Icons {
  readonly #app: App;
  readonly #known = new Map<string, string>();
  readonly #waiting = new Set<Waiting>();
  #underWay = 0;

  constructor(app: App) {
    this.#app = app;
  }

  atHand({ appId, version }: Wanted): string | undefined {
    return this.#known.get(`${appId}@${version}`);
  }

  /** @returns what to call when it is out of view: it is then not asked for, unless it is already */
  ask(wanted: Wanted, show: Waiting['show']): () => void {
    const waiting = { wanted, show };
    this.#waiting.add(waiting);
    this.#next();
    return () => this.#waiting.delete(waiting);
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#underWay >= AT_ONCE) return;
    this.#waiting.delete(first);
    this.#underWay += 1;
    void this.#read(first.wanted).then((icon) => {
      this.#underWay -= 1;
      first.show(icon);
      this.#next();
    });
    this.#next();
  }

  async #read(wanted: Wanted): Promise<string | null> {
    const known = this.atHand(wanted);
    if (known !== undefined) return known;
    const { icon } = await this.#app.bridge.call('apps.icon', wanted).catch(() => ({ icon: null }));
    if (icon !== null) this.#known.set(`${wanted.appId}@${wanted.version}`, icon);
    return icon;
  }
}
