// What happened in a session, a line of JSON each, only ever appended and on the disk before it counts. A line that a crash cut
// short is dropped: no stream has sent it.
import { appendFileSync, closeSync, fdatasyncSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import type { Message } from '@earendil-works/pi-ai';
import type { AgentEvent } from '@platform/contract/agents';
import { sizeText } from '@platform/contract/sizes';

/** An event, and what the model sees of it. */
export type Line = AgentEvent & { readonly context?: readonly Message[] };

export interface Journal {
  readonly lines: readonly Line[];
  bytes(): number;
  /** All of them or none. */
  appendAll(lines: readonly Line[]): void;
  close(): void;
}

export function openJournal(file: string): Journal {
  const lines = readWhole(file);
  const descriptor = openSync(file, 'a', 0o600);
  let bytes = statSync(file).size;
  return {
    lines,
    bytes: () => bytes,
    appendAll(more) {
      const text = more.map((line) => `${JSON.stringify(line)}\n`).join('');
      try {
        appendFileSync(descriptor, text);
        fdatasyncSync(descriptor);
      } catch (error) {
        // A full disk may have taken the half of it.
        truncateSync(file, bytes);
        throw error;
      }
      bytes += Buffer.byteLength(text);
      for (const line of more) lines.push(line);
    },
    close: () => closeSync(descriptor),
  };
}

/** The lines up to the first that is not whole, which is cut off with everything behind it. */
function readWhole(file: string): Line[] {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    // A new session has none yet. One that cannot be read must not be taken for that, and written on from its first line.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const lines: Line[] = [];
  let end = 0;
  for (let next = content.indexOf(10); next >= 0; next = content.indexOf(10, end)) {
    const line = parse(content.subarray(end, next).toString('utf8'));
    if (line?.sequence !== lines.length + 1) break;
    lines.push(line);
    end = next + 1;
  }
  if (end < content.length) {
    process.stderr.write(`A session ended in the middle of a line: ${sizeText(content.length - end)} were removed.\n`);
    truncateSync(file, end);
  }
  return lines;
}

function parse(text: string): Line | null | undefined {
  try {
    return JSON.parse(text) as Line | null;
  } catch {
    return undefined; // reported by the caller
  }
}
