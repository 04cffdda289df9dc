// The backend of an app as one file, as its author would bundle it.
import * as path from 'node:path';
import { rolldown } from 'rolldown';

/** @param name of a file in this folder, or its whole path */
export async function bundleWorkload(name: string): Promise<string> {
  const bundle = await rolldown({
    input: path.resolve(import.meta.dirname, name),
    platform: 'node',
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  return output[0].code;
}
