// Work that comes while the same kind of work is under way waits for it, and is then done together: one statement and one
// write to the disk for many of them. What comes alone does not wait.

export interface TogetherRules<Item, Result> {
  /** Whose work is done together, and waits for nobody else's. */
  readonly ownerOf: (item: Item) => string;
  /** Two items of one key are not under way at the same time. */
  readonly keyOf: (item: Item) => string;
  /** Who waits for an owner's groups beside others. Default: what comes first is done first. */
  readonly shares?: {
    /** Those who wait get equal parts of each group. */
    readonly of: (item: Item) => string;
    /** Groups that one of them is in at the same time: the others have the rest for themselves. */
    readonly groups: number;
  };
  /** Groups of one owner under way at the same time. */
  readonly groups: number;
  /** Items of a group. */
  readonly most: number;
  /** @returns one result for each item, in their order. When it throws, all are refused */
  readonly work: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether the error proves that nothing of the group was done: then each item is tried alone. */
  readonly didNothing: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly key: string;
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
}

interface Owner<Item, Result> {
  /** By share, in the order in which they are served next; none is empty. */
  readonly waiting: Map<string, Waiting<Item, Result>[]>;
  readonly underWay: Set<string>;
  /** How many groups each share is in. */
  readonly sharesUnderWay: Map<string, number>;
  groups: number;
}

interface Group<Item, Result> {
  readonly items: readonly Waiting<Item, Result>[];
  readonly shares: readonly string[];
}

export class Together<Item, Result> {
  readonly #rules: TogetherRules<Item, Result>;
  readonly #owners = new Map<string, Owner<Item, Result>>();

  constructor(rules: TogetherRules<Item, Result>) {
    this.#rules = rules;
  }

  add(item: Item): Promise<Result> {
    const name = this.#rules.ownerOf(item);
    const known = this.#owners.get(name);
    const owner = known ?? { waiting: new Map(), underWay: new Set(), sharesUnderWay: new Map(), groups: 0 };
    this.#owners.set(name, owner);
    return new Promise((done, failed) => {
      const share = this.#rules.shares?.of(item) ?? '';
      const waiting = owner.waiting.get(share) ?? [];
      waiting.push({ item, key: this.#rules.keyOf(item), done, failed });
      owner.waiting.set(share, waiting);
      // What arrived in the same packets is on its way here.
      if (known === undefined) setImmediate(() => this.#begin(name, owner));
      else if (owner.groups > 0) this.#begin(name, owner);
    });
  }

  #begin(name: string, owner: Owner<Item, Result>): void {
    while (owner.groups < this.#rules.groups) {
      const group = this.#take(owner);
      if (group.items.length === 0) break;
      owner.groups += 1;
      void this.#work(group.items).finally(() => {
        owner.groups -= 1;
        for (const { key } of group.items) owner.underWay.delete(key);
        for (const share of group.shares) countGroup(owner.sharesUnderWay, share, -1);
        this.#begin(name, owner);
      });
    }
    if (owner.groups === 0 && owner.waiting.size === 0) this.#owners.delete(name);
  }

  /** One item of each share after the other, until the group is full or nothing is left that may begin. */
  #take(owner: Owner<Item, Result>): Group<Item, Result> {
    const most = this.#rules.shares?.groups ?? this.#rules.groups;
    const lines = [...owner.waiting.entries()]
      .filter(([share]) => (owner.sharesUnderWay.get(share) ?? 0) < most)
      .map(([share, waiting]) => new Line(share, waiting));
    const items: Waiting<Item, Result>[] = [];
    let open = lines;
    while (open.length > 0 && items.length < this.#rules.most) {
      open = open.filter((line) => {
        if (items.length >= this.#rules.most) return false;
        const next = line.next(owner.underWay);
        if (next !== undefined) items.push(next);
        return next !== undefined;
      });
    }
    const served = lines.filter((line) => line.served);
    for (const { share, left } of served) {
      owner.waiting.delete(share);
      if (left.length > 0) owner.waiting.set(share, left);
      countGroup(owner.sharesUnderWay, share, 1);
    }
    return { items, shares: served.map(({ share }) => share) };
  }

  async #work(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#rules.work(group.map(({ item }) => item));
      // As many as there are items, `undefined` among them.
      for (const [index, { done }] of group.entries()) done(results[index] as Result);
    } catch (error) {
      if (group.length > 1 && this.#rules.didNothing(error)) for (const one of group) await this.#work([one]);
      else for (const { failed } of group) failed(error);
    }
  }
}

function countGroup(sharesUnderWay: Map<string, number>, share: string, by: 1 | -1): void {
  const count = (sharesUnderWay.get(share) ?? 0) + by;
  if (count === 0) sharesUnderWay.delete(share);
  else sharesUnderWay.set(share, count);
}

/** What waits for one share, while a group is put together. */
class Line<Item, Result> {
  readonly share: string;
  readonly #waiting: readonly Waiting<Item, Result>[];
  /** That may not begin yet. */
  readonly #kept: Waiting<Item, Result>[] = [];
  #at = 0;
  served = false;

  constructor(share: string, waiting: readonly Waiting<Item, Result>[]) {
    this.share = share;
    this.#waiting = waiting;
  }

  /** The first that may begin, which now has. */
  next(underWay: Set<string>): Waiting<Item, Result> | undefined {
    for (let one = this.#waiting[this.#at]; one !== undefined; one = this.#waiting[this.#at]) {
      this.#at += 1;
      if (underWay.has(one.key)) this.#kept.push(one);
      else {
        underWay.add(one.key);
        this.served = true;
        return one;
      }
    }
    return undefined;
  }

  get left(): Waiting<Item, Result>[] {
    return [...this.#kept, ...this.#waiting.slice(this.#at)];
  }
}
