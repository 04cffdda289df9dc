// The search of the account: one field for installed apps and everything they put into it. A combobox with a grouped
// list (ARIA Authoring Practices), reached with Ctrl-K from anywhere in this page and from apps that pass the key on.
import type { SearchResult } from '@platform/contract';
import { isAppleDevice, isSearchKey } from '@platform/contract/search-key';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { storeTarget } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { endTyping, isStolen } from '../../apps/frames/field-guard.ts';
import { openApp } from '../../apps/frames/open-apps.ts';
import { Icon } from '../../design/icons.tsx';
import { createPressGuard, type PressGuard } from '../prompts/guard.ts';
import { allCommands, type ShellCommand } from './commands.ts';
import { ASKED, groupHits, type Hit, type HitGroup, summaryOf } from './group-hits.ts';
import { HitList, linesOf, optionId } from './hit-list.tsx';
import { matchCommands } from './match-commands.ts';
import { followAsking } from './open-search.ts';
import { addRecent, readRecent } from './recent.ts';
import { foundSections, type Line, recentSections } from './sections.ts';
import { offeredHits, readOffered } from './store-hits.ts';
import { createTypedQuery, type TypedState } from './typed-query.ts';

type Shown = ReadonlySet<string>;

const NONE: Shown = new Set();
const onApple = isAppleDevice(navigator.platform);

function groupsOf({ found, phase }: TypedState<SearchResult>, shownWhole: Shown): readonly HitGroup[] {
  return found === null || phase === 'failed' ? [] : groupHits(found, shownWhole);
}

/** Said by screen readers too, so it changes only when there is something to say. */
function stateLine({ found, phase, message, query }: TypedState<SearchResult>, others: number): string {
  if (message !== null) return message;
  if (phase === 'slow') return 'Searching …';
  if (found === null) return '';
  if (found.apps.length + found.items.length + others > 0) return summaryOf(found, others);
  return phase === 'answered' ? `Nothing found for “${query}”. Try fewer or other words.` : '';
}

export function Search({ account }: { readonly account: string }) {
  const root = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  /** What had the focus before, to get it back. */
  const cameFrom = useRef<HTMLElement | null>(null);
  const typed = useMemo(
    () => createTypedQuery((q, signal) => call('search.query', { query: { q, limit: ASKED }, signal })),
    [],
  );
  /** Since an app opened the search; who opens it themselves means what they press. */
  const guard = useRef<PressGuard>(undefined);
  const open = useSignal(false);
  const text = useSignal('');
  /** The line that the person went to. It stays chosen for as long as it is listed; without one the first is. */
  const picked = useSignal<string | null>(null);
  const shownWhole = useSignal(NONE);
  const commands = useRef<readonly ShellCommand[]>([]);
  const sections = useComputed(() => {
    const query = text.value.trim();
    if (query === '') commands.current = [];
    if (query === '') return open.value ? recentSections(readRecent(localStorage, account)) : [];
    // They come with the answer: nothing may be put above them under the person's finger.
    const { phase } = typed.state.value;
    if (phase !== 'asking' && phase !== 'idle') commands.current = matchCommands(allCommands(), query);
    return foundSections({
      groups: groupsOf(typed.state.value, shownWhole.value),
      commands: commands.current,
      // Below everything else, so they may come whenever they do.
      offers: phase === 'asking' && typed.state.value.found === null ? [] : offeredHits(query),
    });
  });
  const lines = useComputed(() => linesOf(sections.value));
  const pickedIndex = useComputed(() => lines.value.findIndex(({ key }) => key === picked.value));
  const chosen = useComputed(() => Math.max(0, pickedIndex.value));

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isSearchKey(event, navigator.platform) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      begin();
    };
    document.addEventListener('keydown', onKey);
    const endAsking = followAsking(beginFor);
    return () => {
      endAsking();
      document.removeEventListener('keydown', onKey);
      typed.end();
    };
  }, []);

  function begin(): void {
    open.value = true;
    // On a phone the field is not rendered before; it has to be now, for only a press itself may bring up the keyboard.
    root.current?.classList.add('open');
    field.current?.focus();
    field.current?.select();
  }

  /** From an app: keys that were meant for it find an empty field, in which they choose nothing yet. */
  function beginFor(frame: HTMLIFrameElement): void {
    text.value = '';
    picked.value = null;
    typed.type('');
    guard.current = createPressGuard(() => performance.now());
    begin();
    cameFrom.current = frame;
  }

  function leave(): void {
    open.value = false;
    typed.end();
  }

  function close(): void {
    text.value = '';
    leave();
    endTyping();
    field.current?.blur();
  }

  function cancel(): void {
    const before = cameFrom.current;
    close();
    // A frame takes the focus only once it is not inert any more.
    if (before instanceof HTMLIFrameElement) setTimeout(() => before.focus({ preventScroll: true }), 0);
    else before?.focus({ preventScroll: true });
  }

  /** What was typed led somewhere: it is worth finding again. */
  function keepSearch(): void {
    const query = text.value.trim();
    if (query !== '') addRecent(localStorage, account, 'searches', query);
  }

  function show({ appId, target }: Hit): void {
    keepSearch();
    close();
    openApp(appId, target);
  }

  function choose(line: Line): void {
    if (guard.current?.isOpen() === false) return;
    if (line.kind === 'hit') {
      show(line.hit);
      return;
    }
    if (line.kind === 'command') {
      close();
      line.command.run();
      return;
    }
    if (line.kind === 'offer') {
      keepSearch();
      close();
      openApp('store', storeTarget(line.app.appId));
      return;
    }
    if (line.kind === 'past') {
      text.value = line.text;
      picked.value = null;
      typed.type(line.text);
      return;
    }
    const index = lines.value.indexOf(line);
    shownWhole.value = new Set([...shownWhole.value, line.appId]);
    // The first of those that came in its place.
    picked.value = lines.value[index]?.key ?? null;
  }

  function enter(): void {
    const line = lines.value[chosen.value];
    const { phase } = typed.state.value;
    if (line !== undefined && (pickedIndex.value >= 0 || phase === 'answered')) choose(line);
    else if (phase === 'failed') typed.type(text.value);
    else
      typed.whenAnswered(() => {
        const best = lines.value[0];
        if (best !== undefined) choose(best);
      });
  }

  function move(by: 1 | -1): void {
    const { length } = lines.value;
    if (length === 0) return;
    picked.value = lines.value[(chosen.value + by + length) % length]?.key ?? null;
    document.getElementById(optionId(chosen.value))?.scrollIntoView({ block: 'nearest' });
  }

  function onFieldKey(event: KeyboardEvent): void {
    // While letters are being composed, Enter and the arrows belong to the input method.
    if (event.isComposing) return;
    if (event.key === 'Escape') cancel();
    else if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter') enter();
    else return;
    event.preventDefault();
  }

  const state = typed.state.value;
  const said = stateLine(state, lines.value.filter(({ kind }) => kind === 'command' || kind === 'offer').length);
  const shown = open.value && (said !== '' || lines.value.length > 0);
  return (
    <search
      ref={root}
      class={open.value ? 'search open' : 'search'}
      onFocusOut={(event) => {
        const inside = event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget);
        // Only in a task of its own is it known where the focus went: to a frame that took it, it does not stay.
        if (!inside) setTimeout(() => !isStolen() && !root.current?.contains(document.activeElement) && leave(), 0);
      }}
    >
      <button type="button" class="bar-button on-phone" aria-label="Search" onClick={begin}>
        <Icon name="search" size={24} />
      </button>
      <div class="search-field">
        <Icon name="search" size={18} />
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label="Search your apps and what is in them"
          aria-expanded={shown}
          aria-controls="search-hits"
          aria-autocomplete="list"
          aria-activedescendant={shown && lines.value.length > 0 ? optionId(chosen.value) : undefined}
          aria-keyshortcuts={onApple ? 'Meta+K' : 'Control+K'}
          placeholder="Search"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="go"
          maxLength={200}
          value={text.value}
          onFocus={({ relatedTarget }) => {
            cameFrom.current = relatedTarget instanceof HTMLElement ? relatedTarget : null;
            open.value = true;
            typed.type(text.value);
          }}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            picked.value = null;
            shownWhole.value = NONE;
            typed.type(text.value);
            if (text.value.trim() !== '') void readOffered();
          }}
          onKeyDown={onFieldKey}
        />
        <span class="key" aria-hidden="true">
          {onApple ? '⌘ K' : 'Ctrl K'}
        </span>
        <button type="button" class="search-end" onClick={cancel}>
          Cancel
        </button>
      </div>
      <div class={shown ? 'search-results' : 'search-results closed'}>
        <p class="search-state" role="status">
          {said}
        </p>
        <HitList
          sections={sections.value}
          chosen={chosen.value}
          stale={state.phase === 'slow' || state.phase === 'waiting'}
          onPoint={({ key }) => {
            picked.value = key;
          }}
          onChoose={choose}
        />
      </div>
    </search>
  );
}
