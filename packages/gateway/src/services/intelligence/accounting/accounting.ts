// The one place that says what a call may use and what it used. Before: a call that generates is sent with the limit that is
// reserved for it. After, from the answer as it passes:
// - Of several reports the largest of each member counts; a total beyond the parts is output. A 0 is no report.
// - Without a report the text counts, also in members that nobody knows.
// - What cannot be read counts by its bytes.
// - Of an answer that is not whole the larger of report and estimate counts. Somebody who left is charged for text at most
//   what was reserved.
import { Pile } from '@platform/contract/pile';
import type { ExchangeEnd, Tap } from '@platform/http';
import type { Room } from '../../room.ts';
import type { Dialect, Usage } from '../dialect.ts';
import type { Endpoint } from '../endpoints.ts';
import { type AnswerReader, LONGEST_ANSWER, readAnswer } from './answer.ts';
import { decoded, isPlain } from './decode.ts';
import { openReports } from './reports.ts';
import { openTexts, textBytes } from './text.ts';

export interface Used extends Usage {
  /** The call reached the provider. */
  readonly reached: boolean;
}

interface AccountOptions {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
  readonly estimatedInput: number;
  /** What is reserved for the output. */
  readonly reservedOutput: number;
  /** For a whole answer, which is kept until its end. */
  readonly room: Room;
  /** Called once, in the same turn unless the answer is compressed. */
  readonly onEnd: (used: Used) => void;
}

/** As core estimates the input. */
const BYTES_PER_TOKEN = 3;

/** Reads from an answer, as it passes, what the call used. */
export function accountTap(options: AccountOptions): Tap {
  const { dialect, endpoint, estimatedInput, reservedOutput, room, onEnd } = options;
  const reports = openReports(dialect.tokens);
  const texts = openTexts();
  let reached = false;
  let status = 0;
  let unread = 0;
  let coding: string | null = null;
  let reader: AnswerReader | null = null;
  /** Of a compressed answer. */
  let kept: Pile | null = null;

  function openReader(isEvents: boolean): AnswerReader {
    return readAnswer(isEvents, room, {
      event(value) {
        reports.read(value);
        const copy = dialect.copyOf(value);
        if (copy !== null) texts.add(copy, textBytes(value));
      },
      unread(bytes) {
        unread += bytes;
      },
    });
  }

  function used(how: ExchangeEnd): Usage {
    const reported = reports.sum();
    const isBilled = reached && !endpoint.free && status < 300;
    if (!isBilled) {
      const total = Math.max(reported.total, reported.input + reported.output);
      return { inputTokens: reported.input, outputTokens: total - reported.input };
    }
    const inputTokens = reported.input > 0 ? reported.input : inputBeside(reported, estimatedInput);
    const outputTokens = Math.max(reported.output, reported.total - inputTokens);
    if (!endpoint.generates)
      return { inputTokens: how === 'complete' ? inputTokens : Math.max(inputTokens, estimatedInput), outputTokens };
    const text = Math.ceil((texts.bytes() + unread) / BYTES_PER_TOKEN);
    if (how === 'complete') {
      const beside = Math.ceil(unread / BYTES_PER_TOKEN);
      return { inputTokens, outputTokens: outputTokens === 0 ? text : Math.max(outputTokens, beside) };
    }
    const isLimited = how === 'abandoned' && endpoint.limits.length > 0;
    return {
      inputTokens: Math.max(inputTokens, estimatedInput),
      outputTokens: Math.max(outputTokens, isLimited ? Math.min(text, reservedOutput) : text),
    };
  }

  /** A compressed answer is read at its end, and counts by its bytes where that fails. */
  async function readCompressed(bytes: Pile, isWhole: boolean): Promise<void> {
    const plain = room.take(LONGEST_ANSWER) ? await decoded(bytes.bytes(), coding ?? '', LONGEST_ANSWER) : null;
    if (plain === null) return countUnread(bytes.length);
    reader?.chunk(plain);
    reader?.end(isWhole);
  }

  function countUnread(bytes: number): void {
    unread = Math.max(bytes, reservedOutput * BYTES_PER_TOKEN);
  }

  return {
    sent() {
      reached = true;
    },
    head(answered, headers) {
      status = answered;
      const type = (headers['content-type'] ?? '').trim();
      if (isNoText(type, endpoint)) return;
      reader = openReader(type === '' || /^text\/event-stream\b/i.test(type));
      if (isPlain(headers['content-encoding'])) return;
      coding = headers['content-encoding'] ?? '';
      kept = new Pile();
    },
    chunk(bytes) {
      if (coding === null) reader?.chunk(bytes);
      else if (kept !== null && (kept.length + bytes.length > LONGEST_ANSWER || !kept.tryAdd(bytes, room.take))) {
        countUnread(kept.length + bytes.length);
        kept = null;
      } else if (kept === null) unread += bytes.length;
    },
    end(how) {
      const finish = () => onEnd({ ...used(how), reached });
      if (kept !== null && kept.length > 0) {
        const { length } = kept;
        void readCompressed(kept, how === 'complete')
          .catch(() => countUnread(length))
          .then(finish);
        return;
      }
      reader?.end(how === 'complete');
      finish();
    },
  };
}

/** The input, where only a total or the output was reported. */
function inputBeside({ output, total }: { readonly output: number; readonly total: number }, estimate: number): number {
  if (total === 0) return estimate;
  return output > 0 ? Math.max(0, total - output) : Math.min(estimate, total);
}

/** Sounds and pictures, from where they may come: what answers with text does so under every name. */
function isNoText(type: string, { limits, answersMedia }: Endpoint): boolean {
  if (limits.length > 0) return false;
  return /^(?:audio|image|video)\//i.test(type) || (answersMedia && /^application\/octet-stream\b/i.test(type));
}
