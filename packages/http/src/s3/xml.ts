// The XML of S3: small documents without attributes that matter. Read strictly (no document type, hence no entities but
// the predefined ones; no processing instructions) and within limits of size, depth and number of elements.
import { SaxesParser } from 'saxes';
import { openThreadShare } from '../thread-share.ts';

/** An element with either children or text. */
export interface XmlElement {
  readonly name: string;
  readonly text?: string;
  readonly children?: readonly XmlElement[];
}

export interface XmlLimits {
  readonly characters: number;
  readonly elements: number;
}

/** The text is no such document, or larger than its limits. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const DEEPEST = 8;
/** Documents of S3 have one or two, which say their namespace. */
const MOST_ATTRIBUTES = 32;
/** Characters of one piece of markup or text, such as a tag with its attributes: a name of 1,024 bytes, encoded, has a tenth. */
const LONGEST_PIECE = 32 * 1024;
/** Characters that are read at a time; then others have a turn. Those that cost most take 2 ms. */
const TURN = 8 * 1024;
/** All documents of this process together: those of one app would otherwise make each turn as long as they are many. */
const allDocuments = openThreadShare(1 / 2);

interface Open {
  readonly name: string;
  readonly children: XmlElement[];
  text: string;
}

/**
 * Reads a document in turns of the event loop, so that others wait for a few milliseconds at most.
 *
 * @param signal ends it, with its reason
 * @throws XmlError
 */
export async function readXml(source: string, limits: XmlLimits, signal?: AbortSignal): Promise<XmlElement> {
  if (source.length > limits.characters) throw new XmlError('The document is too long.');
  const reading = openDocument(limits);
  let read = 0;
  for (; source.length - read > TURN; read += TURN) {
    const part = source.slice(read, read + TURN);
    await inTurn(() => {
      signal?.throwIfAborted();
      reading.write(part);
    });
  }
  return reading.end(source.slice(read));
}

function inTurn(read: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    allDocuments.take(() => {
      try {
        read();
        resolve();
      } catch (error) {
        reject(error);
      }
    });
  });
}

interface XmlDocument {
  write(text: string): void;
  end(text: string): XmlElement;
}

function openDocument(limits: XmlLimits): XmlDocument {
  const parser = new SaxesParser({ position: false });
  const stack: Open[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  let attributes = 0;
  /** Since the last piece that was whole. */
  let pending = 0;
  const refuse = (what: string) => () => {
    throw new XmlError(what);
  };
  const isWhole = (): void => {
    pending = 0;
  };
  parser.on('error', refuse('The document is not well-formed.'));
  parser.on('doctype', refuse('A document type is not accepted.'));
  parser.on('processinginstruction', refuse('A processing instruction is not accepted.'));
  parser.on('comment', isWhole);
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MOST_ATTRIBUTES) throw new XmlError('The document has too many attributes.');
  });
  parser.on('opentag', ({ name }) => {
    isWhole();
    elements += 1;
    if (elements > limits.elements) throw new XmlError('The document has too many elements.');
    if (stack.length >= DEEPEST) throw new XmlError('The document is nested too deeply.');
    stack.push({ name: name.slice(name.indexOf(':') + 1), children: [], text: '' });
  });
  const onText = (text: string): void => {
    isWhole();
    const open = stack.at(-1);
    if (open !== undefined) open.text += text;
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', () => {
    isWhole();
    const closed = stack.pop();
    if (closed === undefined) return;
    const { name, children, text } = closed;
    const element: XmlElement = children.length > 0 ? { name, children } : { name, text };
    const parent = stack.at(-1);
    if (parent === undefined) root = element;
    else parent.children.push(element);
  });
  const write = (text: string): void => {
    pending += text.length;
    parser.write(text);
    if (pending > LONGEST_PIECE) throw new XmlError('A part of the document is too long.');
  };
  return {
    write,
    end(text) {
      write(text);
      parser.close();
      if (root === undefined) throw new XmlError('The document is empty.');
      return root;
    },
  };
}

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** A whole document. Its root gets the namespace of S3, but for an error, which has none there either. */
export function writeXml(root: XmlElement): string {
  const namespace = root.name === 'Error' ? '' : ` xmlns="${NAMESPACE}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${write(root, namespace)}`;
}

function write({ name, text = '', children }: XmlElement, attributes = ''): string {
  const content = children === undefined ? escaped(text) : children.map((child) => write(child)).join('');
  return `<${name}${attributes}>${content}</${name}>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
  '\n': '&#10;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"\r\n]/g, (character) => ESCAPES[character] ?? character);
}

/** The text of a child, `undefined` without one. */
export function childText({ children = [] }: XmlElement, name: string): string | undefined {
  return children.find((child) => child.name === name)?.text;
}
