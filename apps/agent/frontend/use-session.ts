// One session while it is looked at: what was said, what happens now, and what the person does in it. It survives breaks of the connection,
// restarts of the agent and its sleep: what was missed is read from the event that came last. Its stream, which keeps the agent awake, ends
// with the view, and while nobody sees it.
import { PlatformError } from '@platform/sdk/browser';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../shared/use-loaded.ts';
import type { AgentApi, Message, SessionPage } from './agent-api.ts';
import { hasMessage, lastOf, NOTHING, type Thread, withDelta, withEarlier, withEvent, withNewest } from './thread.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const LOST = 404;

/** @param onChange something of the list of sessions is different now */
export function useSession(api: AgentApi, id: string, onChange: () => void) {
  const [card, setCard] = useState<SessionPage>();
  const [thread, setThread] = useState<Thread>(NOTHING);
  const [outgoing, setOutgoing] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [isAway, setAway] = useState(false);
  const latest = useRef(thread);
  const following = useRef<AbortController>(undefined);
  const isLeft = useRef(false);

  /** The next change begins with this one, drawn or not. */
  const change = useCallback((next: (before: Thread) => Thread) => {
    latest.current = next(latest.current);
    setThread(latest.current);
  }, []);

  const follow = useCallback(() => {
    // Whatever is answered after the view was left, or while it is hidden, opens no stream any more.
    if (following.current !== undefined || isLeft.current || document.visibilityState === 'hidden') return;
    const over = new AbortController();
    following.current = over;
    void run(over.signal).finally(() => {
      if (following.current === over) following.current = undefined;
    });

    async function run(signal: AbortSignal): Promise<void> {
      for (let failures = 0; !signal.aborted; ) {
        try {
          for await (const heard of api.follow(id, lastOf(latest.current), signal)) {
            failures = 0;
            setAway(false);
            if ('delta' in heard) change((before) => withDelta(before, heard.delta));
            else {
              change((before) => withEvent(before, heard.event));
              if (heard.event.event === 'idle' || heard.event.event === 'message') onChange();
            }
          }
          // The agent goes to sleep; the next message wakes it.
          if (!latest.current.isRunning) return;
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof PlatformError && error.status === LOST)
            return setProblem('This conversation was deleted.');
          setAway(true);
        }
        await pause(failures, signal);
        failures += 1;
      }
    }
  }, [api, id]);

  const load = useCallback(async () => {
    try {
      const page = await api.page(id);
      setCard(page);
      change((before) => withNewest(before, page));
      setProblem(undefined);
      if (page.state === 'running' || page.events.length === 0) follow();
    } catch (error) {
      setProblem(messageOf(error));
    }
  }, [api, id]);

  useEffect(() => {
    isLeft.current = false;
    const end = () => {
      following.current?.abort();
      following.current = undefined;
    };
    const again = () => {
      if (document.visibilityState === 'hidden') end();
      else if (following.current === undefined) void load();
    };
    void load();
    const over = new AbortController();
    window.addEventListener('focus', again, { signal: over.signal });
    document.addEventListener('visibilitychange', again, { signal: over.signal });
    // A page that the browser keeps for Back has no view.
    window.addEventListener('pagehide', end, { signal: over.signal });
    return () => {
      isLeft.current = true;
      over.abort();
      end();
    };
  }, [load]);

  async function trying(work: () => Promise<unknown>): Promise<boolean> {
    setProblem(undefined);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(messageOf(error));
      return false;
    }
  }

  return {
    card,
    thread,
    /** What is on its way to the agent. */
    outgoing,
    problem,
    /** The connection broke; it is being made again. */
    isAway,
    /** @returns whether the agent took it */
    async say(said: Message): Promise<boolean> {
      setOutgoing(said.text);
      follow();
      const taken = await trying(() => api.say(id, said));
      if (taken) await load();
      setOutgoing(undefined);
      onChange();
      return taken;
    },
    /** @returns whether it is among what was said here */
    async wasTaken(message: string): Promise<boolean> {
      if (latest.current.events.length === 0) await load();
      return hasMessage(latest.current, message);
    },
    stop: () => trying(() => api.stop(id)),
    readEarlier: () =>
      trying(async () => {
        const page = await api.page(id, latest.current.events[0]?.sequence);
        change((before) => withEarlier(before, page));
      }),
    rename: (title: string) =>
      trying(async () => {
        const renamed = await api.rename(id, title);
        setCard((before) => (before === undefined ? before : { ...before, ...renamed }));
        onChange();
      }),
  };
}

export type UsedSession = ReturnType<typeof useSession>;

function pause(failures: number, signal: AbortSignal): Promise<void> {
  const milliseconds = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
