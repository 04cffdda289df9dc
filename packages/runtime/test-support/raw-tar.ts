// Archives for tests: of files as tar-stream packs them, and single headers that say what they like.
import { buffer } from 'node:stream/consumers';
import { type Header, pack } from 'tar-stream';

const BLOCK = 512;
const FLAGS = {
  file: '0',
  link: '1',
  symlink: '2',
  'character-device': '3',
  'block-device': '4',
  directory: '5',
  fifo: '6',
} as const;

export interface RawHeader extends Pick<Partial<Header>, 'linkname'> {
  readonly name: string;
  readonly type: keyof typeof FLAGS;
  readonly size: number;
}

/** The header of one entry, whether it makes sense or not; its content is for the caller to add. */
export function rawEntry({ name, type, size, linkname = '' }: RawHeader): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write(' '.repeat(8), 148);
  header.write(FLAGS[type], 156);
  header.write(linkname, 157);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

export function tarOf(files: readonly (readonly [string, Buffer])[]): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of files) archive.entry({ name, mode: 0o755 }, content);
  archive.finalize();
  return buffer(archive);
}
