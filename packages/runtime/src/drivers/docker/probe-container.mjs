// Runs once in a container at start and reports what it can see and reach, so that the Runtime can check the isolation.
import { Resolver } from 'node:dns/promises';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import net from 'node:net';

const PORTS = [22, 53, 80, 443, 2375, 8787];
const PATIENCE_MS = 700;

const { reachable, refused } = JSON.parse(process.argv[2]);

/** A refusal is an answer too: the packet arrived. */
function answers(host, port) {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const settle = (answered) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(PATIENCE_MS, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', (error) => settle(error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET'));
  });
}

async function isReached(host) {
  return (await Promise.all(PORTS.map((port) => answers(host, port)))).includes(true);
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** An answer that there is no such name has come from somewhere, too. */
async function resolves() {
  try {
    await new Resolver({ timeout: PATIENCE_MS, tries: 1 }).resolve4('walls.invalid');
    return true;
  } catch (error) {
    return error.code === 'ENOTFOUND' || error.code === 'ENODATA';
  }
}

const status = Object.fromEntries(
  readFileSync('/proc/self/status', 'utf8')
    .split('\n')
    .map((line) => line.split(/:\s+/)),
);
const writable = readFileSync('/proc/self/mountinfo', 'utf8')
  .split('\n')
  .map((line) => line.split(' '))
  .filter((fields) => fields[5]?.split(',').includes('rw'))
  .map((fields) => fields[4])
  .filter(isWritable);
const interfaces = readFileSync('/proc/net/dev', 'utf8')
  .split('\n')
  .slice(2)
  .map((line) => line.split(':')[0].trim())
  .filter(Boolean);
const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length;
const hosts = [reachable, ...refused];
const [resolved, ...reached] = await Promise.all([resolves(), ...hosts.map(isReached)]);

console.log(
  JSON.stringify({
    uid: process.getuid(),
    capabilities: [status.CapEff, status.CapPrm, status.CapBnd, status.CapInh, status.CapAmb],
    noNewPrivileges: status.NoNewPrivs,
    filter: status.Seccomp,
    writable,
    interfaces,
    processes,
    resolved,
    reached: Object.fromEntries(hosts.map((host, index) => [host, reached[index]])),
  }),
);
