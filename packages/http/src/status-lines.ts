// Looks at the first bytes of every answer on a connection before undici parses them: an answer of another HTTP version
// fails, and interim answers such as `100 Continue`, which undici treats as an error, are skipped (RFC 9110
// section 15.2). Everything after that is undici's to parse.
import type { Socket } from 'node:net';

export class UpstreamProtocolError extends Error {
  readonly code = 'ERR_UPSTREAM_PROTOCOL';
}

export interface StatusLines {
  /** A request begins: what is read next is the head of an answer. */
  expect(): void;
}

const SUPPORTED = /^HTTP\/1\.[01] \d{3}(?: [\t\x20-\x7e\x80-\xff]*)?\r\n$/;
/** All but `101`, which ends the protocol. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)/;
const HEAD_END = '\r\n\r\n';
const LONGEST = 8 * 1024;

/** The parser skips empty lines before a status line. */
function withoutEmptyLines(bytes: Buffer): Buffer {
  const begin = bytes.findIndex((byte) => byte !== 0x0d && byte !== 0x0a);
  return begin === -1 ? bytes.subarray(bytes.length) : bytes.subarray(begin);
}

/** Watches what is read from `socket`, which undici does with `read()` alone. */
export function watchStatusLines(socket: Socket): StatusLines {
  const read = socket.read.bind(socket);
  let expected = true;
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
    held = rest;
    return null;
  }

  function fail(what: string): null {
    socket.destroy(new UpstreamProtocolError(what));
    return null;
  }

  socket.read = (size?: number): Buffer | null => {
    let bytes: Buffer | null = read(size);
    while (expected && bytes !== null && !socket.destroyed) {
      const passing = judge(held.length === 0 ? bytes : Buffer.concat([held, bytes]));
      if (passing !== null) return passing;
      bytes = read(size);
    }
    return bytes;
  };
  return {
    expect() {
      expected = true;
      held = Buffer.alloc(0);
    },
  };
}
