// Proves that each way of the escape suite can fail it: where no wall stands, the same attempt gets through.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openCore, type RecordingCore } from '../../../packages/runtime/test-support/conformance/recording-core.ts';
import { makePlace } from '../../../packages/runtime/test-support/place.ts';
import { canMakePrograms } from './machine-code.ts';
import { type Field, runWay } from './run-way.ts';
import { ways } from './suite.ts';
import { openSentinels, type Sentinels } from './targets.ts';
import { callAsRoot, missingForRoot, startAsRoot, startAsUser, type Uncontained, VICTIM } from './uncontained.ts';
import { isThrough, type Targets } from './way.ts';

const UID = process.getuid?.() === 0 ? 2_900_500 : undefined;
const noRoot = missingForRoot();

describe('where no wall stands, a hostile workload', () => {
  const place = makePlace();
  let core: RecordingCore & { server: import('node:http').Server };
  let sentinels: Sentinels;
  let user: Uncontained;
  let targets: Targets;

  before(async () => {
    core = await openCore();
    sentinels = await openSentinels(place.folder, UID);
    user = await startAsUser(place, UID);
    const neighbourVolume = join(place.folder, 'volumes', 'inst-neighbour');
    mkdirSync(neighbourVolume, { recursive: true, mode: 0o700 });
    targets = {
      ...sentinels.targets,
      dataFolder: place.folder,
      neighbourVolume,
      corePort: core.port,
      neighbourAddresses: [],
      neighbourPort: 1,
      neighbourAbstractName: '\0nobody',
      neighbourSharedMemoryKey: 1,
      gatewayHost: '127.0.0.1',
      gatewayPort: core.port,
      ownCredential: 'pgw_own',
      formerCredential: 'pgw_former',
      neighbourCredential: 'pgw_neighbour',
    };
  });
  after(async () => {
    await user?.close();
    await sentinels?.close();
    core?.server.close();
    core?.server.closeAllConnections();
    place.remove();
  });

  const field = (hostile: Uncontained): Field => ({
    hostile,
    targets,
    core: core.seen,
    gateway: { host: '127.0.0.1', port: core.port },
    log: 'raw',
  });

  test('has at least sixty ways, each with a name of its own', () => {
    assert.ok(ways.length >= 60);
    assert.equal(new Set(ways.map(({ name }) => name)).size, ways.length);
  });

  for (const way of ways) {
    const { control, attempt, name } = way;
    if (typeof control === 'object') continue;
    const needsProgram = attempt.kind === 'calls' && !canMakePrograms && 'system calls are tried on x86-64 only';
    test(name, { skip: needsProgram || (control === 'as root' && noRoot) }, async (t) => {
      if (control !== 'as root') {
        const { through, detail } = await runWay(way, field(user));
        if (!through && isMissing(detail)) return t.skip('the kernel of this machine does not have it');
        assert.equal(through, true, detail);
        return;
      }
      const asRoot = { ...targets, hostPid: VICTIM };
      if (attempt.kind === 'calls') {
        const output = callAsRoot(place, attempt.calls(asRoot));
        assert.ok(output !== undefined, 'the program did not run');
        const through = (attempt.through ?? isThrough)(output, asRoot);
        if (!through && isMissing(output.last)) return t.skip('the kernel of this machine does not have it');
        assert.equal(through, true, `${output.last} [${output.results.join(' ')}]`);
        return;
      }
      const root = await startAsRoot(place);
      try {
        const { through, detail } = await runWay(way, { ...field(root), targets: asRoot });
        if (!through && isMissing(detail)) return t.skip('the kernel of this machine does not have it');
        assert.equal(through, true, detail);
      } finally {
        await root.close();
      }
    });
  }
});

/** What a kernel says that was built without modules, kexec, /proc/kcore or a family of sockets. */
function isMissing(detail: string): boolean {
  return /^(ENOSYS|EAFNOSUPPORT|(ENOENT ?)+)( \[.*)?$/.test(detail);
}
