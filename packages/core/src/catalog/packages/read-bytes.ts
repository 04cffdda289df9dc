// The beginning of a file, or all of a small one.
import { type FileHandle, open } from 'node:fs/promises';

export async function readUpTo(file: string, most: number): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    return await readFrom(handle, most);
  } finally {
    await handle.close();
  }
}

/** The same of an open file, whose position stays. */
export async function readFrom(handle: FileHandle, most: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(most, (await handle.stat()).size));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return bytes.subarray(0, bytesRead);
}
