// Searches as a person types: each letter cancels the query before it, and only the answer to the field's current
// content is shown. Independent of page and network, so that slow and late answers can be tested.
import type { ReadonlySignal } from '@preact/signals';
import { signal } from '@preact/signals';
import { ApiError, plainMessage } from '../../api/api-error.ts';

export interface TypedState<Answer> {
  /** What was typed, without the spaces around it; empty asks nothing. */
  readonly query: string;
  /**
   * `asking` until the answer is there, `slow` when that takes long, `waiting` while core takes no more questions.
   * The answer in `found` is to an earlier query in all three.
   */
  readonly phase: 'idle' | 'asking' | 'slow' | 'waiting' | 'answered' | 'failed';
  /** The newest answer; `null` before the first and after a failure. */
  readonly found: Answer | null;
  /** One or two sentences, while waiting and after a failure. */
  readonly message: string | null;
}

export interface TypedQuery<Answer> {
  readonly state: ReadonlySignal<TypedState<Answer>>;
  /** The text of the field changed. The same text again asks again only after a failure. */
  type(text: string): void;
  /** Does this with the answer to what is typed now, at once if it is there; forgotten when anything else is typed. */
  whenAnswered(act: (answer: Answer) => void): void;
  /** Forgets everything and ends what is under way. */
  end(): void;
}

/** Letters typed within this time make one question. */
export const PAUSE_MS = 60;
/** After this time the page shows that an answer is pending. */
export const SLOW_MS = 700;
/** When core does not say how long to wait. */
const UNSAID_WAIT_SECONDS = 5;

const IDLE = { query: '', phase: 'idle', found: null, message: null } as const;

/** @param ask gives the answer, or throws; what it gives after its signal was aborted is not looked at */
export function createTypedQuery<Answer>(
  ask: (query: string, signal: AbortSignal) => Promise<Answer>,
): TypedQuery<Answer> {
  const state = signal<TypedState<Answer>>(IDLE);
  let running = new AbortController();
  let pause: ReturnType<typeof setTimeout> | undefined;
  /** Set while core has asked to be left alone. */
  let blocked: ReturnType<typeof setTimeout> | undefined;
  let awaited: ((answer: Answer) => void) | null = null;

  function change(to: Partial<TypedState<Answer>>): void {
    state.value = { ...state.value, ...to };
  }

  function stop(): void {
    clearTimeout(pause);
    running.abort();
    awaited = null;
  }

  async function start(): Promise<void> {
    const { query } = state.value;
    const own = new AbortController();
    running = own;
    const slow = setTimeout(() => change({ phase: 'slow' }), SLOW_MS);
    own.signal.addEventListener('abort', () => clearTimeout(slow), { once: true });
    try {
      const answer = await ask(query, own.signal);
      if (own.signal.aborted) return;
      change({ phase: 'answered', found: answer, message: null });
      const act = awaited;
      awaited = null;
      act?.(answer);
    } catch (error) {
      if (!own.signal.aborted) refused(error);
    } finally {
      clearTimeout(slow);
    }
  }

  function refused(error: unknown): void {
    if (!(error instanceof ApiError) || error.status !== 429) {
      awaited = null;
      change({ phase: 'failed', found: null, message: plainMessage(error) });
      return;
    }
    const seconds = error.retryAfter ?? UNSAID_WAIT_SECONDS;
    const wait = seconds === 1 ? 'a second' : `${seconds} seconds`;
    change({ phase: 'waiting', message: `Too many searches. Retrying in ${wait}.` });
    clearTimeout(blocked);
    blocked = setTimeout(() => {
      blocked = undefined;
      if (state.value.phase === 'waiting') void start();
    }, seconds * 1_000);
  }

  return {
    state,
    type(text) {
      const query = text.trim();
      if (query === state.value.query && state.value.phase !== 'failed') return;
      stop();
      if (query === '') {
        state.value = IDLE;
        return;
      }
      if (blocked !== undefined) {
        change({ query, phase: 'waiting' });
        return;
      }
      change({ query, phase: 'asking', message: null });
      pause = setTimeout(() => void start(), PAUSE_MS);
    },
    whenAnswered(act) {
      const { phase, found } = state.value;
      if (phase === 'answered' && found !== null) act(found);
      else if (phase !== 'idle' && phase !== 'failed') awaited = act;
    },
    end() {
      stop();
      state.value = IDLE;
    },
  };
}
