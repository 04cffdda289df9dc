// What tests of a full disk share: the backend that fills it, another program that does, and people who register meanwhile.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs';
import * as path from 'node:path';
import { registerAccount } from '../support/client.ts';
import type { PlatformPlace } from '../support/platform-process.ts';

export const MiB = 1024 * 1024;

/** A backend that fills its volume when asked, and counts in it. */
export const diskFullFiles = {
  'frontend/index.html': '<!doctype html>',
  'workload/main.mjs': readFileSync(new URL('./disk-full-app.mjs', import.meta.url)),
};
export const diskFullWorkload = (diskMiB: number) => ({
  workload: { runtime: 'node', entry: 'main.mjs', volume: true, resources: { diskMiB } },
});

export interface TestDisk {
  freeMiB(): number;
  /** Another program, which knows of no reserve. @param untilMiB what it leaves free */
  fill(untilMiB: number): void;
  /** What is reserved for root too, by a program that runs as root. @returns what gives that back */
  fillReserve(): () => void;
  /** The other program gives everything back. */
  giveBack(): void;
}

/** @param folder on which the disk is mounted */
export function testDisk(folder: string): TestDisk {
  const file = (number: number) => path.join(folder, `of-another-program-${number}`);
  let files = 0;
  const freeMiB = () => {
    const { bavail, bsize } = statfsSync(folder);
    return (bavail * bsize) / MiB;
  };
  return {
    freeMiB,
    fill(untilMiB) {
      // At once, as far as nobody is faster; the rest is written.
      for (let size = freeMiB() - untilMiB; size >= 1; size = Math.min(size / 2, freeMiB() - untilMiB))
        spawnSync('fallocate', ['-l', String(Math.floor(size * MiB)), file(files++)]);
      writeOut(file(files++), () => freeMiB() > untilMiB);
    },
    fillReserve() {
      const reserve = path.join(folder, 'of-a-program-of-root');
      writeOut(reserve, () => true);
      return () => rmSync(reserve);
    },
    giveBack() {
      for (; files > 0; files -= 1) rmSync(file(files - 1), { force: true });
    },
  };
}

/** Writes until the disk takes not even a page more. */
function writeOut(file: string, isWanted: () => boolean): void {
  const descriptor = openSync(file, 'w');
  try {
    for (let piece = MiB; piece >= 4_096 && isWanted(); ) {
      try {
        writeSync(descriptor, Buffer.alloc(piece, 1));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
        piece /= 2;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

/** People who register until `over`, one after the other. */
export async function registerMore(
  place: PlatformPlace,
  prefix: string,
  registered: string[],
  over: AbortSignal,
): Promise<void> {
  for (let index = 0; !over.aborted; index += 1) {
    const name = `${prefix}-n${index}`;
    await registerAccount(place, name);
    registered.push(name);
  }
}

/** Everything that was acknowledged is there. */
export async function allRegistered(place: PlatformPlace, registered: readonly string[]): Promise<void> {
  for (const name of registered)
    await assert.rejects(registerAccount(place, name), /account_name_taken/, `the account ${name} is gone`);
}
