// What is mounted below a folder of this machine, as the kernel says.
import { readFileSync } from 'node:fs';

export interface Mounted {
  readonly folder: string;
  /** `/dev/loop3` */
  readonly device: string;
  /** Its file system is, whatever was asked of the mount: as the kernel makes one in which it finds an error. */
  readonly isReadOnly: boolean;
}

export function mountsBelow(directory: string): Mounted[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [before = '', after = ''] = line.split(' - ');
      const folder = before.split(' ')[4];
      const [, device, options = ''] = after.split(' ');
      if (folder === undefined || device === undefined) return [];
      const path = folder.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      );
      return path.startsWith(`${directory}/`)
        ? [{ folder: path, device, isReadOnly: options.split(',').includes('ro') }]
        : [];
    });
}
