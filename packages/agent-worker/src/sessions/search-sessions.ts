// Finds words in the sessions of the agent, the newest first, as far as a search may read.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { agents } from '@platform/contract/agents';
import { KiB } from '@platform/contract/sizes';
import { withoutHarmful } from '../tools/foreign-text.ts';
import { type Card, journalOf } from './card.ts';
import type { Line } from './journal.ts';

export interface FoundSession {
  readonly card: Card;
  /** `null` where the title has the words. */
  readonly match: { readonly sequence: number; readonly excerpt: string } | null;
}

export interface FoundSessions {
  readonly found: readonly FoundSession[];
  /** Whether all sessions were searched. */
  readonly complete: boolean;
}

const { agentSearchItems, agentSearchSize } = agents.limits;
/** Of a message, around the first word. */
const EXCERPT_BEFORE = 20;
const EXCERPT = 200;
/** Marks of Markdown, which a line of a list does not need. */
const MARKS = /[#*`|>]+/g;

/** As a journal begins each of them: what is no message is not looked through. */
const MESSAGE = /^\{"sequence":\d+,"at":"[^"]*","event":"message",/;
/** What is read, and looked through, between two turns of everything else that the agent does. */
const PIECE_BYTES = 64 * KiB;

interface SearchOptions {
  /** Bytes that it reads. */
  readonly most?: number | undefined;
  /** Nobody waits for it any more. */
  readonly left?: AbortSignal | undefined;
}

/**
 * Reads what is on the disk, which every message is before it counts, piece by piece: answers and streams go on meanwhile. All words
 * have to occur, in whatever case.
 *
 * @param cards the newest first
 * @throws the reason of `left`
 */
export async function searchSessions(
  folder: string,
  cards: readonly Card[],
  query: string,
  { most = agentSearchSize.value, left: gone }: SearchOptions = {},
): Promise<FoundSessions> {
  const words = plain(query).split(/\s+/).filter(Boolean);
  const found: FoundSession[] = [];
  if (words.length === 0) return { found, complete: true };
  let left = most;
  let complete = true;
  for (const card of cards) {
    gone?.throwIfAborted();
    if (found.length >= agentSearchItems.value) return { found, complete: false };
    if (hasAll(plain(card.title), words)) {
      found.push({ card, match: null });
      continue;
    }
    const file = journalOf(folder, card.id);
    const size = await sizeOf(file);
    // One that is too large for what is left does not keep out the others.
    if (size > left) {
      complete = false;
      continue;
    }
    left -= size;
    const match = size === 0 ? undefined : await newestMatch(file, words, gone);
    if (match !== undefined) found.push({ card, match });
  }
  return { found, complete };
}

function plain(text: string): string {
  return text.normalize('NFC').toLocaleLowerCase();
}

function hasAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

async function newestMatch(
  file: string,
  words: readonly string[],
  gone: AbortSignal | undefined,
): Promise<FoundSession['match'] | undefined> {
  // As they stand in JSON: what has none of them is not parsed.
  const written = words.map((word) => JSON.stringify(word).slice(1, -1));
  let newest: FoundSession['match'] | undefined;
  for await (const line of linesOf(file)) {
    gone?.throwIfAborted();
    if (!MESSAGE.test(line) || !hasAll(plain(line), written)) continue;
    const event = parse(line);
    if (event?.event !== 'message' || !hasAll(plain(event.data.text), words)) continue;
    newest = { sequence: event.sequence, excerpt: excerptOf(event.data.text, words[0] ?? '') };
  }
  return newest;
}

/** Whole lines; what is being written at the end is none. Of a session that was deleted meanwhile there are no more. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const parts: string[] = [];
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES, encoding: 'utf8' })) {
      const [first = '', ...rest] = String(piece).split('\n');
      parts.push(first);
      for (const next of rest) {
        yield parts.splice(0).join('');
        parts.push(next);
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function excerptOf(text: string, word: string): string {
  const line = withoutHarmful(text).replaceAll(MARKS, ' ').replaceAll(/\s+/g, ' ').trim();
  const at = Math.max(0, plain(line).indexOf(word) - EXCERPT_BEFORE);
  const cut = line.slice(at, at + EXCERPT).toWellFormed();
  return `${at > 0 ? '…' : ''}${cut}${at + EXCERPT < line.length ? '…' : ''}`;
}

function parse(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return undefined; // the end of one that is being written
  }
}

/** 0 for one that was deleted meanwhile. */
async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
