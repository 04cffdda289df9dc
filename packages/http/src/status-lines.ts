// Looks at the first bytes of every answer on a connection before undici parses them: an answer of another HTTP version
// fails, and interim answers such as `100 Continue`, which undici treats as an error, are skipped (RFC 9110
// section 15.2). Everything after that is undici's to parse.
//
// What is neither head nor body is bounded: interim answers, empty lines, and extensions of chunks pass on nothing, so
// that no slow reader would hold back an upstream that sends them for ever.
import type { Socket } from 'node:net';

export class UpstreamProtocolError extends Error {
  readonly code = 'ERR_UPSTREAM_PROTOCOL';
}

export interface StatusLines {
  /** A request begins: what is read next is the head of an answer. */
  expect(): void;
  /** So much of the body was read. */
  passed(bytes: number): void;
  /** What follows is no answer any more. */
  end(): void;
}

const SUPPORTED = /^HTTP\/1\.[01] \d{3}(?: [\t\x20-\x7e\x80-\xff]*)?\r\n$/;
/** All but `101`, which ends the protocol. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)/;
const HEAD_END = '\r\n\r\n';
const LONGEST = 8 * 1024;
/** Of everything that comes before an answer. */
const MOST_BEFORE = 64 * 1024;
/** Read beyond what came of it: chunks of one byte take six, and each may have an extension. */
const MOST_FRAMING = 1024 * 1024;
const FRAMING_PER_BYTE = 16;

/** The parser skips empty lines before a status line. */
function withoutEmptyLines(bytes: Buffer): Buffer {
  const begin = bytes.findIndex((byte) => byte !== 0x0d && byte !== 0x0a);
  return begin === -1 ? bytes.subarray(bytes.length) : bytes.subarray(begin);
}

/** Watches what is read from `socket`, which undici does with `read()` alone. */
export function watchStatusLines(socket: Socket): StatusLines {
  const read = socket.read.bind(socket);
  const unshift = socket.unshift.bind(socket);
  let expected = true;
  let before = 0;
  /** Read of this answer, without what its body accounts for; `null` once it is another protocol. */
  let framing: number | null = 0;
  /** The begin of an answer, as long as it is too short to be judged. */
  let held: Buffer = Buffer.alloc(0);

  /** What may pass of the begin of an answer; `null` as long as more has to come first. */
  function judge(bytes: Buffer): Buffer | null {
    let rest = withoutEmptyLines(bytes);
    for (;;) {
      const lineEnd = rest.indexOf(0x0a);
      if (lineEnd === -1) {
        if (rest.length > LONGEST) return fail('a status line without end');
        break;
      }
      const line = rest.toString('latin1', 0, lineEnd + 1);
      if (!SUPPORTED.test(line)) return fail('not an HTTP/1 status line');
      if (!INTERIM.test(line)) {
        expected = false;
        return rest;
      }
      const end = rest.indexOf(HEAD_END, 0, 'latin1');
      if (end === -1) {
        if (rest.length > LONGEST) return fail('an interim answer without end');
        break;
      }
      rest = withoutEmptyLines(rest.subarray(end + HEAD_END.length));
    }
    before += bytes.length - rest.length;
    if (before > MOST_BEFORE) return fail('interim answers without end');
    held = rest;
    return null;
  }

  function count(bytes: Buffer): Buffer | null {
    if (framing === null) return bytes;
    framing += bytes.length;
    return framing > MOST_FRAMING ? fail('a body of framing alone') : bytes;
  }

  function fail(what: string): null {
    socket.destroy(new UpstreamProtocolError(what));
    return null;
  }

  socket.read = (size?: number): Buffer | null => {
    let bytes: Buffer | null = read(size);
    while (expected && bytes !== null && !socket.destroyed) {
      const passing = judge(held.length === 0 ? bytes : Buffer.concat([held, bytes]));
      if (passing !== null) return count(passing);
      bytes = read(size);
    }
    return bytes === null ? null : count(bytes);
  };
  // The parser gives back what it does not want yet, and reads it again.
  socket.unshift = (chunk: Buffer, encoding?: BufferEncoding): void => {
    if (framing !== null) framing -= chunk.length;
    unshift(chunk, encoding);
  };
  return {
    expect() {
      expected = true;
      before = 0;
      framing = 0;
      held = Buffer.alloc(0);
    },
    passed(bytes) {
      if (framing !== null) framing = Math.max(0, framing - bytes * FRAMING_PER_BYTE);
    },
    end() {
      framing = null;
    },
  };
}
