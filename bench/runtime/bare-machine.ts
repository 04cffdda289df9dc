// The bare engine of virtual machines: QEMU boots the same kernel, with the same arguments and the same root image, and
// the same small server answers in it. Nothing of ours is there but the few lines that begin it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Acceleration,
  baseImage,
  type Equipment,
  enclosed,
  initramfs,
  openImages,
  planMachine,
  qemuArguments,
} from '../../packages/runtime/test-support/internals.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { WORKLOAD } from '../platform/hello-app.ts';
import { processorSecondsOfTree } from '../platform/process-memory.ts';

export interface BareMachine {
  /** From the start of QEMU to the first byte of the server's answer. */
  coldStart(): Promise<{ readonly milliseconds: number; readonly processorSeconds: number }>;
  close(): void;
}

const PORT = 8_080;
/** Milliseconds. Emulated on two busy cores one took 51 s. */
const LONGEST_BOOT = 120_000;
/** The network that QEMU itself plays: no tap, no rights. */
const INIT = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /root
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in virtio_ring virtio virtio_mmio virtio_blk failover net_failover virtio_net libcrc32c erofs; do
  [ ! -e /modules/$module.ko ] || insmod /modules/$module.ko
done
for disk in /sys/block/vd*; do
  case $(cat $disk/serial) in
    base) base=/dev/\${disk##*/} ;;
    app) app=/dev/\${disk##*/} ;;
  esac
done
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
mount -t erofs -o ro $base /root
mount -t erofs -o ro $app /root/app
mount -t proc proc /root/proc
PORT=${PORT} exec chroot /root /opt/platform/bin/node /app/main.mjs
`;

export async function openBareMachine(
  equipment: Equipment,
  { images: imageDirectory, acceleration }: { readonly images: string; readonly acceleration: Acceleration },
): Promise<BareMachine> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-machine-'));
  chmodSync(folder, 0o755);
  const package_ = join(folder, 'package');
  mkdirSync(package_);
  writeFileSync(join(package_, 'main.mjs'), WORKLOAD);
  const images = await openImages(imageDirectory, equipment.makeErofs);
  const places: Readonly<Record<string, string>> = {
    [enclosed.kernel]: equipment.kernel,
    [enclosed.initramfs]: await initramfs(images, equipment, INIT),
    [enclosed.base]: await baseImage(images, equipment),
    [enclosed.app]: await images.ofFolder(package_),
  };
  const machine = planMachine(
    {
      ...{ runtime: 'node', entry: 'main.mjs', port: PORT, mode: 'automatic', idleSeconds: 60, volume: false },
      resources: { memoryMiB: 256, cpus: 1, pids: 64, diskMiB: 16 },
    },
    { monitor: 'qemu', program: equipment.program, acceleration },
  );
  return {
    async coldStart() {
      const port = await freePort();
      const words = qemuArguments(machine).map((word) => {
        if (word.startsWith('tap,')) return `user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:${port}-10.0.2.15:${PORT}`;
        const [inside, outside] = Object.entries(places).find(
          ([path]) => word === path || word.includes(`=${path},`),
        ) ?? ['', ''];
        return word.replace(inside, outside);
      });
      const begun = performance.now();
      // It dies with this process, whatever ends it.
      const child = spawn(equipment.setpriv, ['--pdeathsig', 'KILL', equipment.program, ...words], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const exited = once(child, 'exit');
      try {
        await firstAnswer(port, exited);
        const milliseconds = performance.now() - begun;
        return { milliseconds, processorSeconds: processorSecondsOfTree(child.pid ?? 0) };
      } finally {
        child.kill('SIGKILL');
        await exited;
      }
    },
    close() {
      images.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * QEMU takes connections before there is a guest to give them to, and such a one may never be answered: another follows
 * every 50 ms, and none is given up, since an emulated guest may take longer than that for its answer.
 */
async function firstAnswer(port: number, exited: Promise<unknown[]>): Promise<void> {
  const over = new AbortController();
  const answered = new Promise<void>((resolve) => {
    const ask = () => {
      const request = http.get(
        { host: '127.0.0.1', port, path: '/', agent: false, signal: over.signal },
        (response) => {
          response.resume();
          if (response.statusCode === 200) resolve();
        },
      );
      // Refused or reset before the guest listens; the next one is on its way.
      request.on('error', () => undefined);
    };
    const asking = setInterval(ask, 50);
    over.signal.addEventListener('abort', () => clearInterval(asking));
    ask();
  });
  const tooLate = delay(LONGEST_BOOT, undefined, { signal: over.signal }).then(() => {
    throw new Error(`The guest of bare QEMU has not answered within ${LONGEST_BOOT / 1_000} s.`);
  });
  const ended = exited.then(([code]) => {
    throw new Error(`QEMU ended with ${code}.`);
  });
  try {
    await Promise.race([answered, tooLate, ended]);
  } finally {
    over.abort();
  }
}
