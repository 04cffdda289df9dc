// Tries to get out. Prints one JSON line with what each attempt brought, then listens.
import { fork, spawnSync } from 'node:child_process';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import net from 'node:net';
import { Worker } from 'node:worker_threads';

const http = process.getBuiltinModule('node:http');
if (process.argv[2] === 'child') {
  process.send('child lives');
  process.disconnect();
} else {
  await main();
}

async function main() {
  const targets = JSON.parse(process.env.TARGETS);
  const code = (action) => {
    try {
      action();
      return 'done';
    } catch (error) {
      return error.code ?? String(error);
    }
  };
  const connect = (options) =>
    new Promise((resolve) => {
      const socket = net.connect(options);
      socket.once('connect', () => resolve('connected'));
      socket.once('error', (error) => resolve(error.code));
    });
  const run = (program, ...args) => {
    const { status, error, stdout } = spawnSync(program, args, { encoding: 'utf8' });
    return error === undefined ? { status, stdout } : { status: error.code };
  };
  const perl = (script, ...args) => run('/usr/bin/perl', '-e', script, ...args.map(String));
  const numbers = (name) => /^\d+$/.test(name);
  const descriptors = () =>
    fs.readdirSync('/proc/self/fd').flatMap((name) => {
      try {
        return [fs.readlinkSync(`/proc/self/fd/${name}`)];
      } catch {
        return [];
      }
    });
  const atStart = descriptors();
  const status = Object.fromEntries(
    fs
      .readFileSync('/proc/self/status', 'utf8')
      .split('\n')
      .map((line) => line.split(/:\s+/)),
  );

  const report = {
    environment: Object.keys(process.env).sort(),
    send: typeof process.send,
    connected: process.connected === true,
    execArgv: process.execArgv,
    uid: process.getuid(),
    groups: process.getgroups().filter((group) => group !== process.getgid() && group !== 65534),
    capabilities: ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => status[name]),
    noNewPrivileges: status.NoNewPrivs,
    filter: status.Seccomp,
    root: fs.readdirSync('/').sort(),
    run: code(() => fs.readdirSync('/run')) === 'done' ? fs.readdirSync('/run') : 'none',
    devices: fs.readdirSync('/dev').sort(),
    processes: fs
      .readdirSync('/proc')
      .filter(numbers)
      .map((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]),
    interfaces: fs
      .readFileSync('/proc/net/dev', 'utf8')
      .split('\n')
      .slice(2)
      .map((line) => line.split(':')[0].trim())
      .filter(Boolean),
    descriptors: atStart,
    passwd: fs.readFileSync('/etc/passwd', 'utf8'),
    reads: Object.fromEntries(targets.read.map((path) => [path, code(() => fs.readFileSync(path))])),
    lists: Object.fromEntries(targets.list.map((path) => [path, code(() => fs.readdirSync(path))])),
    writes: Object.fromEntries(targets.write.map((path) => [path, code(() => fs.writeFileSync(path, 'x'))])),
    terminal: code(() => fs.openSync('/dev/tty', 'r+')),
    killOutside: code(() => process.kill(targets.pid, 'SIGKILL')),
    hostPort: await connect({ host: '127.0.0.1', port: targets.port }),
    hostAbstract: await connect({ path: `\0${targets.abstract}` }),
    outside: await connect({ host: '192.0.2.1', port: 80 }),
    outside6: await connect({ host: '2001:db8::1', port: 80 }),
    name: await dns.lookup('platform.example').then(
      () => 'found',
      (error) => error.code,
    ),
    resolve: await dns.resolve4('platform.example').then(
      () => 'found',
      (error) => error.code,
    ),
    mount: run('mount', '-t', 'tmpfs', 'none', '/tmp').status,
    remount: run('mount', '-o', 'remount,bind,rw', '/usr').status,
    unshareUser: run('unshare', '--user', 'true').status,
    unshareNet: run('unshare', '--user', '--map-root-user', '--net', '--mount', 'true').status,
    setuid: run('su', '-c', 'id').status,
    chrootOut: run('chroot', '/proc/1/root', 'true').status,
    ptrace: perl('exit(syscall($ARGV[0] + 0, 0, 0, 0, 0) == 0 ? 0 : 7)', targets.ptrace).status,
    vsock: perl('exit(socket(my $s, 40, 1, 0) ? 0 : 7)').status,
    raw: perl('exit(socket(my $s, 2, 3, 1) ? 0 : 7)').status,
    keyring: perl('exit(syscall($ARGV[0] + 0, 0, -3, 0, 0, 0) >= 0 ? 0 : 7)', targets.keyctl).status,
    forked: await new Promise((resolve) => {
      const child = fork(new URL(import.meta.url), ['child']);
      child.once('message', resolve);
      child.once('error', (error) => resolve(error.code));
    }),
    worker: await new Promise((resolve) => {
      const worker = new Worker('require("node:worker_threads").parentPort.postMessage("worker lives")', {
        eval: true,
      });
      worker.once('message', resolve);
      worker.once('error', (error) => resolve(String(error)));
    }),
    temporary: fillTemporary(),
    gateway: await fetch(`${process.env.PLATFORM_API_URL}/v1/services/apps`).then((answer) => answer.text()),
  };
  console.log(JSON.stringify(report));
  http.createServer((_req, res) => res.end('served')).listen(Number(process.env.PORT));
}

/** Writes to /tmp until it is full; returns the size it took, or how it failed. */
function fillTemporary() {
  const file = fs.openSync('/tmp/fill', 'w');
  const block = Buffer.alloc(1024 * 1024);
  let written = 0;
  try {
    while (written < 512) {
      fs.writeSync(file, block);
      written += 1;
    }
    return { written };
  } catch (error) {
    return { written, code: error.code };
  } finally {
    fs.closeSync(file);
    fs.rmSync('/tmp/fill');
  }
}
