// Work that comes while the same kind of work is under way waits for it, and is then done together: one statement and one
// write to the disk for many of them. What comes alone does not wait.

export interface TogetherRules<Item, Result> {
  /** Whose work is done together, and waits for nobody else's. */
  readonly ownerOf: (item: Item) => string;
  /** Two items of one key are not under way at the same time. */
  readonly keyOf: (item: Item) => string;
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
  waiting: Waiting<Item, Result>[];
  readonly underWay: Set<string>;
  groups: number;
}

export class Together<Item, Result> {
  readonly #rules: TogetherRules<Item, Result>;
  readonly #owners = new Map<string, Owner<Item, Result>>();

  constructor(rules: TogetherRules<Item, Result>) {
    this.#rules = rules;
  }

  add(item: Item): Promise<Result> {
    const name = this.#rules.ownerOf(item);
    const owner: Owner<Item, Result> = this.#owners.get(name) ?? { waiting: [], underWay: new Set(), groups: 0 };
    this.#owners.set(name, owner);
    return new Promise((done, failed) => {
      owner.waiting.push({ item, key: this.#rules.keyOf(item), done, failed });
      // What arrived in the same packets is on its way here.
      if (owner.groups === 0 && owner.waiting.length === 1) setImmediate(() => this.#begin(name, owner));
      else if (owner.groups > 0) this.#begin(name, owner);
    });
  }

  #begin(name: string, owner: Owner<Item, Result>): void {
    while (owner.groups < this.#rules.groups) {
      const group = this.#take(owner);
      if (group.length === 0) break;
      owner.groups += 1;
      void this.#work(group).finally(() => {
        owner.groups -= 1;
        for (const { key } of group) owner.underWay.delete(key);
        this.#begin(name, owner);
      });
    }
    if (owner.groups === 0 && owner.waiting.length === 0) this.#owners.delete(name);
  }

  #take(owner: Owner<Item, Result>): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const rest: Waiting<Item, Result>[] = [];
    for (const one of owner.waiting) {
      if (group.length >= this.#rules.most || owner.underWay.has(one.key)) rest.push(one);
      else {
        owner.underWay.add(one.key);
        group.push(one);
      }
    }
    owner.waiting = rest;
    return group;
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
