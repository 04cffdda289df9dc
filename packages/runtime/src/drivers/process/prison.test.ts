// The walls, tried from inside by a workload that wants out, for every mechanism and kind of user.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../../tests/support/wait.ts';
import { makePlace } from '../../../test-support/place.ts';
import { ask, isRoot, openBench, type RunningSandbox, type SandboxBench } from '../../../test-support/sandboxes.ts';
import type { Way } from './mechanism.ts';

const SYSTEM_CALLS = { x64: { ptrace: 101, keyctl: 250 }, arm64: { ptrace: 117, keyctl: 219 } } as const;
const calls = SYSTEM_CALLS[process.arch === 'arm64' ? 'arm64' : 'x64'];
const ways: readonly Way[] = isRoot ? ['bubblewrap', 'unshare', 'unshare-as-root'] : ['bubblewrap', 'unshare'];
const REFUSED = /^(EROFS|EACCES|EPERM|ENOENT)$/;

interface Report {
  readonly environment: readonly string[];
  readonly send: string;
  readonly connected: boolean;
  readonly execArgv: readonly string[];
  readonly uid: number;
  readonly groups: readonly number[];
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: string;
  readonly filter: string;
  readonly root: readonly string[];
  readonly run: readonly string[];
  readonly devices: readonly string[];
  readonly processes: readonly string[];
  readonly interfaces: readonly string[];
  readonly descriptors: readonly string[];
  readonly passwd: string;
  readonly reads: Readonly<Record<string, string>>;
  readonly lists: Readonly<Record<string, string>>;
  readonly writes: Readonly<Record<string, string>>;
  readonly terminal: string;
  readonly killOutside: string;
  readonly hostPort: string;
  readonly hostAbstract: string;
  readonly outside: string;
  readonly outside6: string;
  readonly name: string;
  readonly resolve: string;
  readonly mount: unknown;
  readonly remount: unknown;
  readonly unshareUser: unknown;
  readonly unshareNet: unknown;
  readonly setuid: unknown;
  readonly chrootOut: unknown;
  readonly ptrace: unknown;
  readonly vsock: unknown;
  readonly raw: unknown;
  readonly keyring: unknown;
  readonly forked: string;
  readonly worker: string;
  readonly temporary: { readonly written: number; readonly code?: string };
  readonly gateway: string;
}

for (const way of ways) {
  describe(`a prisoner in a sandbox made with ${way}`, () => {
    const place = makePlace();
    const hostServer = http.createServer((_req, res) => res.end('host'));
    const abstractServer = net.createServer();
    const abstract = `platform-test-${process.pid}-${way}`;
    let bench: SandboxBench;
    let running: RunningSandbox;
    let report: Report;

    before(async () => {
      bench = await openBench(place.folder, way);
      assert.equal(bench.report.ok, true, bench.report.reasons.join(' '));
      hostServer.listen(0, '127.0.0.1');
      abstractServer.listen(`\0${abstract}`);
      await Promise.all([once(hostServer, 'listening'), once(abstractServer, 'listening')]);
      const secret = join(place.folder, 'secret.txt');
      writeFileSync(secret, 'secret', { mode: 0o666 });
      const address = hostServer.address();
      assert.ok(address !== null && typeof address === 'object');
      const targets = {
        read: ['/etc/shadow', '/proc/1/environ', secret, `/proc/1/root${secret}`, '/proc/kcore', '/proc/sysrq-trigger'],
        list: [place.folder, '/home', '/root', '/sys', '/mnt', '/boot', '/var/lib', '/proc/1/root/home', '/volume'],
        write: [
          '/x',
          '/app/x',
          '/app/index.mjs',
          '/usr/x',
          '/usr/bin/x',
          '/etc/passwd',
          '/etc/x',
          '/opt/platform/bootstrap.mjs',
          '/dev/x',
          '/run/x',
          '/var/x',
          '/proc/sys/kernel/hostname',
          '/proc/sysrq-trigger',
          '/proc/sys/user/max_user_namespaces',
        ],
        pid: process.pid,
        port: address.port,
        abstract,
        ...calls,
      };
      running = await bench.start({
        app: place.workload('prisoner'),
        environment: {
          PORT: '8080',
          TARGETS: JSON.stringify(targets),
          LANG: 'C.UTF-8',
          PATH: '/usr/bin:/usr/sbin:/bin:/sbin',
        },
      });
      const line = await until('the prisoner to report', () =>
        running
          .output()
          .split('\n')
          .find((text) => text.startsWith('{')),
      );
      report = JSON.parse(line);
      assert.equal(await running.sandbox.listening(AbortSignal.timeout(20_000)), true);
    });

    after(async () => {
      await running.end();
      hostServer.close();
      abstractServer.close();
      bench.host.cgroups.close();
      place.remove();
    });

    test('is served and serves through its Gateway only', async () => {
      assert.equal(report.gateway, 'gateway saw /v1/services/apps');
      assert.equal(await ask(running.sandbox), 'served');
    });

    test('gets exactly the environment it was given', () => {
      assert.deepEqual(report.environment, ['LANG', 'PATH', 'PLATFORM_API_URL', 'PORT', 'TARGETS']);
    });

    test('runs unprivileged: not root, no group, no capability, no way to gain one', () => {
      assert.notEqual(report.uid, 0);
      assert.notEqual(report.uid, way === 'unshare-as-root' ? 0 : process.getuid?.());
      assert.deepEqual(report.groups, []);
      for (const set of report.capabilities) assert.match(set, /^0+$/);
      assert.equal(report.noNewPrivileges, '1');
      assert.notEqual(report.setuid, 0);
    });

    test('runs under a system call filter', () => {
      assert.equal(report.filter, '2');
      for (const outcome of [report.ptrace, report.vsock, report.raw, report.keyring]) assert.notEqual(outcome, 0);
    });

    test('sees no process but its own', () => {
      assert.ok(report.processes.length <= 2, report.processes.join(', '));
      assert.equal(report.killOutside, 'ESRCH');
    });

    test('sees of the file system only the system, its package and its own scratch', () => {
      const allowed = [
        'app',
        'bin',
        'dev',
        'etc',
        'lib',
        'lib32',
        'lib64',
        'libx32',
        'opt',
        'proc',
        'run',
        'sbin',
        'tmp',
        'usr',
        'var',
      ];
      assert.deepEqual(
        report.root.filter((name) => !allowed.includes(name)),
        [],
      );
      assert.deepEqual(report.run, []);
      assert.deepEqual(report.devices, [
        'fd',
        'full',
        'null',
        'random',
        'shm',
        'stderr',
        'stdin',
        'stdout',
        'urandom',
        'zero',
      ]);
      for (const [path, outcome] of Object.entries(report.lists)) assert.equal(outcome, 'ENOENT', path);
      for (const [path, outcome] of Object.entries(report.reads)) {
        // Its own first process may show the launcher's few variables; everything else is out of reach.
        if (path !== '/proc/1/environ') assert.match(outcome, REFUSED, path);
      }
      assert.doesNotMatch(report.passwd, /tester|nobody:x:.*\/nonexistent/);
    });

    test('can write nowhere but in its scratch', () => {
      for (const [path, outcome] of Object.entries(report.writes)) assert.match(outcome, REFUSED, path);
    });

    test('can fill its scratch only up to its size', () => {
      assert.equal(report.temporary.code, 'ENOSPC');
      assert.ok(report.temporary.written <= 64, `${report.temporary.written} MiB`);
    });

    test('has a network that leads nowhere', () => {
      assert.deepEqual(report.interfaces, ['lo']);
      assert.equal(report.hostPort, 'ECONNREFUSED');
      assert.equal(report.hostAbstract, 'ECONNREFUSED');
      assert.equal(report.outside, 'ENETUNREACH');
      assert.equal(report.outside6, 'ENETUNREACH');
      assert.notEqual(report.name, 'found');
      assert.notEqual(report.resolve, 'found');
    });

    test('cannot mount, remount, or make namespaces', () => {
      for (const outcome of [report.mount, report.remount, report.unshareUser, report.unshareNet, report.chrootOut]) {
        assert.notEqual(outcome, 0);
      }
    });

    test('holds no descriptor of the platform and no channel to it', () => {
      assert.equal(report.send, 'undefined');
      assert.equal(report.connected, false);
      assert.equal(report.terminal, 'ENOENT');
      const kinds = report.descriptors.filter(
        (target) => !/^(anon_inode:|pipe:|socket:|\/dev\/null$|\/dev\/urandom$|\/proc\/\d+\/fd$)/.test(target),
      );
      assert.deepEqual(kinds, []);
      // stdout, stderr, and the socket on which it is reached
      assert.equal(report.descriptors.filter((target) => target.startsWith('socket:')).length, 3);
    });

    test('can fork and start workers like any program of Node', () => {
      assert.equal(report.forked, 'child lives');
      assert.equal(report.worker, 'worker lives');
      assert.deepEqual(
        report.execArgv.filter((argument) => argument.includes('bootstrap')),
        [],
      );
    });

    test('leaves the Runtime no path that it could replace', () => {
      assert.deepEqual(readdirSync(join(place.folder, 'run')), []);
      assert.match(running.sandbox.inboundSocket, /^\/proc\/self\/fd\/\d+$/);
      assert.equal(existsSync('/run/platform'), false);
    });
  });
}
