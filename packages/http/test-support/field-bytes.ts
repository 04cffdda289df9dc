// Values of fields with bytes beyond ASCII, which pass every hop as they are, and a backend that answers with exact bytes.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

interface ByteCase {
  readonly name: string;
  readonly field: string;
  readonly valueHex: string;
  readonly quoted: boolean;
}

const { cases }: { readonly cases: readonly ByteCase[] } = JSON.parse(
  readFileSync(new URL('../test-vectors/response-header-bytes.json', import.meta.url), 'utf8'),
);

/** Bytes as latin1: each character is one. */
export interface ByteField {
  readonly name: string;
  readonly value: string;
}

const all = String.fromCharCode(...Array.from({ length: 0x80 }, (_, index) => 0x80 + index));
const fileName = (value: string): ByteField => ({
  name: 'Content-Disposition',
  value: `attachment; filename="${value}"`,
});

/** Those of the reports, and every byte from 0x80 to 0xff in a field that Node treats alike and one that it does not. */
export const BYTE_FIELDS: readonly ByteField[] = [
  ...cases.map(({ field, valueHex, quoted }) => {
    const value = Buffer.from(valueHex, 'hex').toString('latin1');
    return quoted ? { ...fileName(value), name: field } : { name: field, value };
  }),
  fileName(all),
  { name: 'X-Title', value: all },
];

/** How an answer's body is framed. The field stands before the framing and behind it. */
export const FRAMINGS: Readonly<Record<string, (field: string) => string>> = {
  'Content-Length behind it': (field) => `${field}Content-Length: 2\r\n\r\nok`,
  'Content-Length before it': (field) => `Content-Length: 2\r\n${field}\r\nok`,
  'a long body': (field) => `Content-Length: 100000\r\n${field}\r\n${'x'.repeat(100_000)}`,
  chunks: (field) => `Transfer-Encoding: chunked\r\n${field}\r\n2\r\nok\r\n0\r\n\r\n`,
  'the end of the connection': (field) => `Connection: close\r\n${field}\r\nok`,
  'no body': (field) => `Content-Length: 0\r\n${field}\r\n`,
};

/** A status line and what follows it. */
export function answerWith({ name, value }: ByteField, framing: string, status = '200 OK'): Buffer {
  const rest = FRAMINGS[framing]?.(`${name}: ${value}\r\n`) ?? '';
  return Buffer.from(`HTTP/1.1 ${status}\r\n${rest}`, 'latin1');
}

/** Answers each request with the bytes that `answer` gives, once its head has arrived. Closes with the test. */
export function byteServer(answer: () => Buffer): Server {
  return createServer((socket) => {
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      received = '';
      const sent = answer();
      if (sent.includes('Connection: close')) socket.end(sent);
      else socket.write(sent);
    });
  });
}

/** The value of this field in a head as it came over HTTP/1.1. */
export function valueIn(head: string, name: string): string | undefined {
  const lines = head.split('\r\n');
  return lines.find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `))?.slice(name.length + 2);
}
