// Shows the log of a workload as it grows, by asking its node again and again.
import { setTimeout as delay } from 'node:timers/promises';
import { type InstallationId, type LogEntry, RefusalError } from '@platform/contract';
import type { Nodes } from '@platform/core/topology/nodes.ts';
import { paint, say } from './terminal.ts';

const PAUSE_MILLISECONDS = 400;
const PAGE = 200;
const COLOURS = { stdout: undefined, stderr: 'yellow', system: 'dim' } as const;

export interface FollowOptions {
  /** Lines before it are not shown. */
  readonly since: Date;
  readonly signal: AbortSignal;
}

/** Prints what is logged until the signal aborts. */
export async function followLogs(nodes: Nodes, id: InstallationId, { since, signal }: FollowOptions): Promise<void> {
  const news = new LogNews(since);
  let silent = false;
  while (!signal.aborted) {
    try {
      for (const entry of await unseen(nodes, id, news)) print(entry);
      silent = false;
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      // Told once; it comes back when the platform does.
      if (!silent && !signal.aborted) say(paint('dim', `  ${error.refusal.detail ?? error.refusal.code}`));
      silent = true;
    }
    await delay(PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  }
}

/** Oldest first. */
async function unseen(nodes: Nodes, id: InstallationId, news: LogNews): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  let before: string | undefined;
  do {
    const page = await nodes.logs(id, { limit: PAGE, before });
    entries.push(...page.items);
    before = page.items.some((entry) => news.isOld(entry)) ? undefined : (page.before ?? undefined);
  } while (before !== undefined);
  return news.take(entries);
}

/** Knows which lines were seen. Lines have no numbers, so those of the last moment are counted. */
export class LogNews {
  #last: string;
  #seenThen = new Map<string, number>();

  /** @param since lines before it are never news */
  constructor(since: Date) {
    this.#last = since.toISOString();
  }

  isOld({ at }: LogEntry): boolean {
    return at < this.#last;
  }

  /** @param entries newest first @returns those that are new, oldest first */
  take(entries: readonly LogEntry[]): LogEntry[] {
    const fresh: LogEntry[] = [];
    const seen = new Map(this.#seenThen);
    for (const entry of [...entries].reverse()) {
      if (this.isOld(entry)) continue;
      const key = `${entry.stream}\0${entry.line}`;
      const times = entry.at === this.#last ? (seen.get(key) ?? 0) : 0;
      if (times > 0) seen.set(key, times - 1);
      else fresh.push(entry);
    }
    for (const entry of fresh) this.#remember(entry);
    return fresh;
  }

  #remember({ at, stream, line }: LogEntry): void {
    if (at > this.#last) {
      this.#last = at;
      this.#seenThen = new Map();
    }
    const key = `${stream}\0${line}`;
    this.#seenThen.set(key, (this.#seenThen.get(key) ?? 0) + 1);
  }
}

function print({ at, stream, line }: LogEntry): void {
  const colour = COLOURS[stream];
  const time = paint('dim', at.slice(11, 23));
  say(`  ${time} ${colour === undefined ? line : paint(colour, line)}`);
}
