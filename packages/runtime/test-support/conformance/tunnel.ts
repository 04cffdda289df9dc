// `runtime.network-tunnel`: a tunnel that carries a packet, by a workload that gains nothing else. A driver that provides
// none says so, and gives neither the device nor the capability.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { programFiles, programsMissing } from '../programs.ts';
import type { Started } from './bench.ts';
import type { Suite } from './suite.ts';

export const NET_ADMIN_ONLY = '0000000000001000';
const NONE = '0000000000000000';

/** Runs a script of `workloads/` with the package's own Perl. */
export function runPerl(started: Started, script: string, ...args: readonly string[]): Promise<string> {
  return started.run(
    ({ childProcess }, name, given) => {
      const folder = (process.argv[1] ?? '').replace(/\/[^/]*$/, '');
      const { stdout, stderr } = childProcess.spawnSync(`${folder}/perl`, [`${folder}/${name}`, ...given], {
        env: { LD_LIBRARY_PATH: folder },
        encoding: 'utf8',
        timeout: 20_000,
      });
      return `${stdout}${stderr}`;
    },
    script,
    args,
  );
}

export const perlFile = (name: string): Record<string, Buffer> => ({
  [name]: readFileSync(new URL(`../workloads/${name}`, import.meta.url)),
});

export function tunnelBehaviour({ under, bench }: Suite): void {
  test('a tunnel carries packets and its workload gains one capability, or there is none and the status says so', {
    skip: programsMissing('perl', 'ldd'),
  }, async (t) => {
    const started = await bench().start({
      network: { public: false, tunnel: true },
      files: { ...programFiles('perl'), ...perlFile('tunnel.pl') },
    });
    t.after(() => started.stop(0));
    await started.listens();
    const { capabilities, ...seen } = await started.run(({ fs, code }) => {
      const status = fs.readFileSync('/proc/self/status', 'utf8');
      return {
        capabilities: ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map(
          (name) => new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(status)?.[1],
        ),
        noNewPrivileges: /^NoNewPrivs:\s*(\d)/m.exec(status)?.[1],
        isRoot: process.getuid?.() === 0 || process.geteuid?.() === 0,
        setuid: code(() => process.setuid?.(0)),
        setgroups: code(() => process.setgroups?.([0])),
      };
    });
    const expected = under.can.tunnels === true ? NET_ADMIN_ONLY : NONE;
    assert.deepEqual(capabilities, [expected, expected, expected, expected, expected]);
    assert.deepEqual([seen.noNewPrivileges, seen.isRoot], ['1', false]);
    for (const outcome of [seen.setuid, seen.setgroups]) assert.match(outcome, /^(EPERM|EINVAL)$/);
    const said = await runPerl(started, 'tunnel.pl');
    if (under.can.tunnels === true) {
      assert.equal(said, '10.99.0.2 answers through the tunnel');
      assert.deepEqual(started.instance.shortfalls(), []);
    } else {
      assert.match(said, /^(open|TUNSETIFF): /);
      assert.match(started.instance.shortfalls().join(' '), /^A network tunnel is granted, but .+\.$/);
    }
  });
}
