// The model in a multipart upload (RFC 7578), such as an audio file: the text of the one field `model`. Strict where
// parsers disagree, so that the provider cannot find another one.
import { UnreadableBody } from './json-members.ts';

const BOUNDARY = /^multipart\/form-data\s*;\s*boundary=(?:"([^"\\\r\n]{1,200})"|([^\s;"]{1,200}))\s*$/i;
const HEAD_END = Buffer.from('\r\n\r\n');
const MOST_HEAD = 4_096;
const MOST_PARTS = 256;
const LONGEST_MODEL = 1_024;
const DISPOSITION = /^form-data((?:\s*;\s*[a-z]+\*?=(?:"(?:[^"\\\r\n]|\\.)*"|[^\s;"]+))*)$/i;
const PARAMETER = /;\s*([a-z]+\*?)=(?:"((?:[^"\\\r\n]|\\.)*)"|([^\s;"]+))/gi;

/**
 * @returns `null` when no field is named so
 * @throws UnreadableBody
 */
export function modelOfMultipart(body: Buffer, contentType: string): string | null {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new UnreadableBody('The multipart body has no boundary that can be read.');
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const boundaryLine = delimiter.subarray(2);
  if (!body.subarray(0, delimiter.length - 2).equals(boundaryLine)) throw broken();
  let at = delimiter.length - 2;
  let model: string | null = null;
  for (let parts = 0; parts < MOST_PARTS; parts += 1) {
    const after = body.subarray(at, at + 2).toString('latin1');
    if (after === '--' && isEnd(body.subarray(at + 2))) return model;
    if (after !== '\r\n') throw broken();
    const headEnd = body.indexOf(HEAD_END, at);
    const next = body.indexOf(delimiter, at + 2);
    // Some readers end a part at a boundary behind any kind of line break.
    if (body.indexOf(boundaryLine, at) !== next + 2) throw broken();
    if (headEnd === -1 || next === -1 || headEnd + 4 > next + 2 || headEnd - at > MOST_HEAD) throw broken();
    const name = nameOf(body.subarray(at + 2, headEnd).toString('utf8'));
    if (name.toLowerCase() === 'model') {
      if (model !== null || name !== 'model')
        throw new UnreadableBody('The form must have the field model once, in this spelling.');
      const value = body.subarray(headEnd + 4, next);
      if (value.length > LONGEST_MODEL) throw new UnreadableBody('The field model is too long.');
      model = value.toString('utf8');
    }
    at = next + delimiter.length;
  }
  throw new UnreadableBody(`A form has at most ${MOST_PARTS} fields.`);
}

function broken(): UnreadableBody {
  return new UnreadableBody('The multipart body is not valid.');
}

/** Behind the last boundary there is a line break, or nothing. */
function isEnd(rest: Buffer): boolean {
  return rest.length === 0 || rest.toString('latin1', 0, 3) === '\r\n';
}

/** A line break that only some readers take for one, or an encoding that only some undo. */
const AMBIGUOUS = /(?<!\r)\n|\r(?!\n)|\0|^content-transfer-encoding\s*:(?!\s*(?:7bit|8bit|binary)\s*$)/im;

/** Name of a field, from the head of its part. */
function nameOf(head: string): string {
  if (AMBIGUOUS.test(head)) throw broken();
  const lines = head.split('\r\n').filter((line) => /^content-disposition\s*:/i.test(line));
  const [line = ''] = lines;
  const parameters = DISPOSITION.exec(line.slice(line.indexOf(':') + 1).trim())?.[1];
  if (lines.length !== 1 || parameters === undefined) throw broken();
  const names = [...parameters.matchAll(PARAMETER)].filter(([, key]) => /^name\*?$/i.test(key ?? ''));
  const [, key, name] = names[0] ?? [];
  if (names.length !== 1 || key !== 'name' || name === undefined || name.includes('\\')) throw broken();
  return name;
}
