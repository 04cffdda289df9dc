// Turns IPv4 forwarding on where answers for workloads come in, and back as it was found. Only the interfaces of the
// default routes are touched, never the switch of the whole machine.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Forwarding {
  /** Interfaces on which it is on for workloads alone. */
  opened(): readonly string[];
  /** Turns it on for these, and back for others that it was turned on for. */
  open(interfaces: readonly string[]): void;
  /** Turns everything back. */
  restore(): void;
}

const WHOLE_MACHINE = '/proc/sys/net/ipv4/ip_forward';

/** @param file remembers what was turned on, so that the next start turns it back after this process was killed */
export function openForwarding(file: string): Forwarding {
  let opened = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(isInterfaceName) : [];

  function remember(next: readonly string[]): void {
    opened = [...next];
    if (opened.length === 0) {
      rmSync(file, { force: true });
      return;
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${opened.join('\n')}\n`, { mode: 0o600, flush: true });
  }

  /** Another program has enabled it globally meanwhile: then it stays. */
  function close(names: readonly string[]): void {
    if (isOn(WHOLE_MACHINE)) return;
    for (const name of names) if (existsSync(setting(name))) writeFileSync(setting(name), '0');
  }

  return {
    opened: () => opened,
    open(interfaces) {
      if (isOn(WHOLE_MACHINE)) {
        remember([]);
        return;
      }
      const wanted = interfaces.filter((name) => isInterfaceName(name) && existsSync(setting(name)));
      close(opened.filter((name) => !wanted.includes(name)));
      const off = wanted.filter((name) => opened.includes(name) || !isOn(setting(name)));
      // Written down first: what is turned on and forgotten would stay on.
      remember(off);
      for (const name of off) writeFileSync(setting(name), '1');
    },
    restore() {
      close(opened);
      remember([]);
    },
  };
}

function setting(name: string): string {
  return `/proc/sys/net/ipv4/conf/${name}/forwarding`;
}

function isOn(path: string): boolean {
  return readFileSync(path, 'utf8').trim() !== '0';
}

function isInterfaceName(name: string): boolean {
  return /^[^/\s]{1,15}$/.test(name) && !/^\.{1,2}$/.test(name);
}
