// The search of the account: installed apps and what they indexed. `/` or Ctrl-K reach it from anywhere in this page.
import type { SearchResult } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { plainMessage } from '../api/api-error.ts';
import { call } from '../api/client.ts';
import { AppPicture } from '../design/controls.tsx';
import { Icon } from '../design/icons.tsx';
import { findApp, nameOf } from '../frames/installed-apps.ts';
import { openApp } from '../frames/open-apps.ts';

interface Hit {
  readonly key: string;
  readonly appId: string;
  readonly title: string;
  /** What it is, in small print. */
  readonly about: string;
  readonly target: string | null;
}

type Outcome =
  | { readonly kind: 'idle' }
  | { readonly kind: 'found'; readonly query: string; readonly hits: readonly Hit[] }
  | { readonly kind: 'failed'; readonly message: string };

const PAUSE_MS = 120;

function hitsOf(found: SearchResult): readonly Hit[] {
  const apps = found.apps.map(({ appId, name }) => ({
    key: `app ${appId}`,
    appId,
    title: name,
    about: 'App',
    target: null,
  }));
  const items = found.items.map(({ appId, id, title, kind, url }) => ({
    key: `item ${appId} ${id}`,
    appId,
    title,
    about: `${kind} in ${nameOf(appId)}`,
    target: url,
  }));
  return [...apps, ...items];
}

function isTyping(element: EventTarget | null): boolean {
  return (
    element instanceof HTMLElement && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName))
  );
}

export function Search() {
  const root = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const open = useSignal(false);
  const text = useSignal('');
  const outcome = useSignal<Outcome>({ kind: 'idle' });
  const chosen = useSignal(0);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const wanted =
        (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyping(event.target));
      if (!wanted || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      begin();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);

  useEffect(() => {
    const query = text.value.trim();
    if (query === '') {
      outcome.value = { kind: 'idle' };
      return;
    }
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const found = await call('search.query', { query: { q: query.slice(0, 200), limit: 12 } });
        if (current) outcome.value = { kind: 'found', query, hits: hitsOf(found) };
      } catch (error) {
        if (current) outcome.value = { kind: 'failed', message: plainMessage(error) };
      }
      if (current) chosen.value = 0;
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text.value]);

  function begin(): void {
    open.value = true;
    // On a phone the field is not rendered before; it has to be now, for only a press itself may bring up the keyboard.
    root.current?.classList.add('open');
    field.current?.focus();
    field.current?.select();
  }

  function end(): void {
    open.value = false;
    text.value = '';
    field.current?.blur();
  }

  function show(hit: Hit): void {
    end();
    openApp(hit.appId, hit.target);
  }

  function onFieldKey(event: KeyboardEvent): void {
    const hits = outcome.value.kind === 'found' ? outcome.value.hits : [];
    if (event.key === 'Escape') end();
    else if (event.key === 'ArrowDown') chosen.value = Math.min(chosen.value + 1, hits.length - 1);
    else if (event.key === 'ArrowUp') chosen.value = Math.max(chosen.value - 1, 0);
    else if (event.key === 'Enter') {
      const hit = hits[chosen.value];
      if (hit !== undefined) show(hit);
    } else return;
    event.preventDefault();
  }

  const shown = open.value && text.value.trim() !== '';
  const hits = outcome.value.kind === 'found' ? outcome.value.hits : [];
  return (
    <search
      ref={root}
      class={open.value ? 'search open' : 'search'}
      onFocusOut={(event) => {
        const inside = event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget);
        if (!inside) open.value = false;
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
          aria-activedescendant={shown && hits.length > 0 ? `hit-${chosen.value}` : undefined}
          placeholder="Search"
          autocomplete="off"
          maxLength={200}
          value={text.value}
          onFocus={() => (open.value = true)}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={onFieldKey}
        />
        <span class="key" aria-hidden="true">
          /
        </span>
        <button type="button" class="search-end" onClick={end}>
          Cancel
        </button>
      </div>
      <div class={shown ? 'search-results' : 'search-results closed'}>
        <p class="search-state" role="status">
          {stateLine(outcome.value, text.value.trim())}
        </p>
        <div id="search-hits" role="listbox" aria-label="Found">
          {hits.map((hit, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys reach the options through the field, which keeps the focus.
            <div
              key={hit.key}
              id={`hit-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen.value}
              onPointerDown={(event) => event.preventDefault()}
              onPointerMove={() => (chosen.value = index)}
              onClick={() => show(hit)}
            >
              <AppPicture name={nameOf(hit.appId)} path={findApp(hit.appId)?.icon ?? null} size="small" />
              <span class="hit-title">{hit.title}</span>
              <span class="hit-about">{hit.about}</span>
            </div>
          ))}
        </div>
      </div>
    </search>
  );
}

function stateLine(outcome: Outcome, query: string): string {
  if (outcome.kind === 'failed') return outcome.message;
  if (query === '') return '';
  if (outcome.kind === 'idle') return 'Searching …';
  if (outcome.hits.length === 0) return `Nothing found for “${outcome.query}”.`;
  return outcome.hits.length === 1 ? '1 result' : `${outcome.hits.length} results`;
}
