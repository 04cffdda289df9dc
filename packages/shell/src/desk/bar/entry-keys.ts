// Keys in a list of things that can be closed: arrows, Home and End go from one to the next, Delete closes one, and the focus
// then goes to its neighbour.

/** How the list lies. */
export type Direction = 'across' | 'down';

export interface EntrySelectors {
  readonly entry: string;
  /** In an entry, what opens it. */
  readonly control: string;
  /** In an entry, what closes it. */
  readonly close: string;
}

const KEYS: Readonly<Record<Direction, readonly [back: string, on: string]>> = {
  across: ['ArrowLeft', 'ArrowRight'],
  down: ['ArrowUp', 'ArrowDown'],
};

/** The entry that a key leads to; `null` for other keys, and where the list ends. */
export function entryAfter(key: string, direction: Direction, at: number, count: number): number | null {
  const [back, on] = KEYS[direction];
  const to = key === back ? at - 1 : key === on ? at + 1 : key === 'Home' ? 0 : key === 'End' ? count - 1 : -1;
  return to >= 0 && to < count && to !== at ? to : null;
}

/** For the element that holds the entries. */
export function onEntryKeys(direction: Direction, { entry, control, close }: EntrySelectors) {
  return (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    const entries = [...event.currentTarget.querySelectorAll<HTMLElement>(entry)];
    const own = event.target.closest<HTMLElement>(entry);
    const at = own === null ? -1 : entries.indexOf(own);
    if (at < 0) return;
    const controlOf = (index: number) => entries[index]?.querySelector<HTMLElement>(control);
    const closes =
      event.key === 'Delete' || (event.target.matches(close) && (event.key === 'Enter' || event.key === ' '));
    const to = entryAfter(event.key, direction, at, entries.length);
    if (!closes && to === null) return;
    event.preventDefault();
    if (to !== null) controlOf(to)?.focus();
    if (!closes) return;
    // Before its own goes, with the focus in it.
    controlOf(at + 1 < entries.length ? at + 1 : at - 1)?.focus();
    own?.querySelector<HTMLElement>(close)?.click();
  };
}
