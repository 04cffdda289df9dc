// The Node that runs the platform, which a machine's own may be too old for what projects build with.
import * as path from 'node:path';

/** Its folder, for the PATH. */
export function ownNode(): string {
  return path.dirname(process.execPath);
}
