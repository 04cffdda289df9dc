// Tests whether a guest boots here by booting one, first with KVM: that /dev/kvm opens proves nothing, since on some
// hosts guests hang. The result is stored until the host reboots.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { WorkloadManifest } from '@platform/contract';
import { writeFileAtomically } from '../../atomic-file.ts';
import type { RunningGateway } from '../../gateway-port.ts';
import { LaunchError, type WorkloadSpec } from '../driver.ts';
import { describeFile } from './images.ts';
import type { MachineHost } from './machine-host.ts';
import type { Acceleration } from './machine-plan.ts';
import { runMachine } from './run-machine.ts';

export interface Trial {
  readonly acceleration: Acceleration | 'none';
  /** What is wrong or weaker than it could be, in words. */
  readonly reasons: readonly string[];
}

/** With KVM a trial takes well under a second; a guest that says nothing by then hangs. */
const KVM_LIMIT = 10_000;
/** Emulated, on a busy machine. */
const EMULATED_LIMIT = 90_000;
const SLOW =
  'Guests run by emulation, many times slower than with KVM, which a machine with hardware virtualization offers as /dev/kvm.';

export interface TrialOptions {
  readonly dataDirectory: string;
  /** File in which the outcomes are remembered. */
  readonly memory: string;
  readonly emulation: 'accepted' | 'refused';
}

/** What became of each trial: that a guest booted, or what went wrong. */
interface Outcomes {
  readonly asked: string;
  readonly kvm?: string;
  readonly tcg?: string;
}

const BOOTS = 'boots';

export async function probeMachine(host: MachineHost, options: TrialOptions): Promise<Trial> {
  const asked = identity(host);
  let known = recall(options.memory, asked);
  const outcome = async (acceleration: Acceleration, limit: number) => {
    const former = known[acceleration];
    if (former !== undefined) return former;
    const found = (await boots(host, options.dataDirectory, { acceleration, limit })) ?? BOOTS;
    known = { ...known, [acceleration]: found };
    // A failure of emulation may be temporary and is not remembered; a KVM that hangs will hang again.
    if (found === BOOTS || acceleration === 'kvm') {
      writeFileAtomically(options.memory, Buffer.from(JSON.stringify(known)), 0o600);
    }
    return found;
  };
  const reasons: string[] = [];
  if (existsSync('/dev/kvm')) {
    const found = await outcome('kvm', KVM_LIMIT);
    if (found === BOOTS) return { acceleration: 'kvm', reasons };
    reasons.push(`There is a /dev/kvm, but a guest does not boot with it: ${found}`);
  } else {
    reasons.push('There is no /dev/kvm: hardware virtualization is off, missing or not passed on to this machine.');
  }
  if (host.equipment.monitor === 'firecracker') {
    return { acceleration: 'none', reasons: [...reasons, 'Firecracker cannot run guests without KVM.'] };
  }
  if (options.emulation === 'refused') return { acceleration: 'none', reasons };
  const found = await outcome('tcg', EMULATED_LIMIT);
  if (found === BOOTS) return { acceleration: 'tcg', reasons: [SLOW, ...reasons] };
  return { acceleration: 'none', reasons: [`A trial guest does not boot: ${found}`, ...reasons] };
}

/** Undefined when a workload ran in a guest to its end; else what went wrong. */
async function boots(
  host: MachineHost,
  dataDirectory: string,
  { acceleration, limit }: { readonly acceleration: Acceleration; readonly limit: number },
): Promise<string | undefined> {
  const over = AbortSignal.timeout(limit);
  try {
    const machine = await runMachine(host, trialSpec(dataDirectory, over), acceleration);
    let said = '';
    machine.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
    });
    machine.stderr.resume();
    const stop = () => void machine.stop(0);
    over.addEventListener('abort', stop);
    const exit = await machine.exited;
    over.removeEventListener('abort', stop);
    machine.release();
    if (over.aborted) return `it did not report within ${limit / 1_000} s.`;
    return exit.code === 0 && said.includes(TRIAL_WORD) ? undefined : exit.reason;
  } catch (error) {
    return error instanceof LaunchError ? `${error.message} ${error.detail}` : String(error);
  }
}

const TRIAL_WORD = 'the trial guest runs';
const trialManifest: WorkloadManifest = {
  runtime: 'node',
  entry: 'index.mjs',
  port: 8080,
  mode: 'automatic',
  idleSeconds: 60,
  resources: { memoryMiB: 96, cpus: 1, pids: 16, diskMiB: 1 },
  volume: false,
};

function trialSpec(dataDirectory: string, abort: AbortSignal): WorkloadSpec {
  const app = join(dataDirectory, 'runtime', 'trial');
  mkdirSync(app, { recursive: true });
  chmodSync(app, 0o755);
  writeFileSync(join(app, 'index.mjs'), `console.log('${TRIAL_WORD}');\n`);
  chmodSync(join(app, 'index.mjs'), 0o644);
  return {
    installationId: `trial-${process.pid}`,
    manifest: trialManifest,
    app,
    network: { public: false, tunnel: false },
    environment: () => ({}),
    gatewayUrls: {},
    storageUrls: {},
    fingerprint: '',
    openGateway: async ({ listen }) => closedGateway(listen),
    gatewayHooks: { onActivity: () => undefined, log: () => undefined },
    claimImage: async () => undefined,
    gatewaySettings: () => Promise.reject(new Error('A trial has no Gateway.')),
    abort,
  };
}

/** A trial has no inbound connections. */
function closedGateway(listen: Parameters<WorkloadSpec['openGateway']>[0]['listen']): RunningGateway {
  if ('close' in listen) listen.close();
  const nothing = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  return {
    forwardInbound: ({ res }) => void res.destroy(),
    forwardUpgrade: ({ socket }) => void socket.destroy(),
    forwardPublic: ({ res }) => void res.destroy(),
    forwardPublicUpgrade: ({ socket }) => void socket.destroy(),
    apply: async () => undefined,
    activeRequests: () => 0,
    traffic: () => ({ outbound: nothing, inbound: nothing }),
    close: async () => undefined,
  };
}

/** What a trial was made with, on which boot of this host. */
function identity(host: MachineHost): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  const { program, kernel } = host.equipment;
  // The names of images say what is in them, wherever they are kept.
  const images = [host.base, host.initramfs].map((path) => basename(path));
  return [boot, existsSync('/dev/kvm'), ...[program, kernel].map(describeFile), ...images].join(' ');
}

function recall(file: string, asked: string): Outcomes {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null || !('asked' in value) || value.asked !== asked) return { asked };
    const { kvm, tcg } = { kvm: undefined, tcg: undefined, ...value };
    return { asked, ...(typeof kvm === 'string' ? { kvm } : {}), ...(typeof tcg === 'string' ? { tcg } : {}) };
  } catch {
    return { asked }; // the first trial on this data folder
  }
}
