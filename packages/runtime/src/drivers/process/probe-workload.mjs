// Runs once in a sandbox at start and reports what it can see, so that the Runtime can check the isolation.
import { readdirSync, readFileSync } from 'node:fs';

const status = Object.fromEntries(
  readFileSync('/proc/self/status', 'utf8')
    .split('\n')
    .map((line) => line.split(/:\s+/)),
);
const writable = readFileSync('/proc/self/mountinfo', 'utf8')
  .split('\n')
  .map((line) => line.split(' '))
  .filter((fields) => fields[5]?.split(',').includes('rw'))
  .map((fields) => fields[4]);
const interfaces = readFileSync('/proc/net/dev', 'utf8')
  .split('\n')
  .slice(2)
  .map((line) => line.split(':')[0].trim())
  .filter(Boolean);

console.log(
  JSON.stringify({
    uid: process.getuid(),
    capabilities: [status.CapEff, status.CapPrm, status.CapBnd, status.CapInh, status.CapAmb],
    noNewPrivileges: status.NoNewPrivs,
    filter: status.Seccomp,
    writable,
    interfaces,
    processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
    root: readdirSync('/').sort(),
  }),
);
