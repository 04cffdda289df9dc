// Agents (docs/decisions/agents.md): what drivers start for them. To a driver an agent is a script like any other: the worker,
// which comes with the platform, in a folder with the instructions of the package.
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentOrder, type Assignment, limits, type WorkloadManifest } from '@platform/contract';
import { syncToDisk, writeFileAtomically } from './atomic-file.ts';
import { StartRefused, type WorkloadSpec } from './drivers/driver.ts';
import { modes } from './modes.ts';
import { PackageError, type PackageStore } from './packages.ts';

/** The program of the worker, as packages/agent-worker makes it. */
export interface AgentWorker {
  /** Another one for other code. */
  identity(): string;
  /** Writes it, one file, that finds its instructions in `instructions.md` beside it. */
  makeProgram(file: string): Promise<void>;
}

/** What a driver is given. */
export interface Runnable extends Pick<WorkloadSpec, 'app' | 'manifest'> {
  /** Of the platform's program that runs in it. A survivor that runs another one is not taken over. */
  readonly program?: string;
}

type Assigned = Pick<Assignment, 'packageHash' | 'workload'>;

export interface Runnables {
  /** @throws StartRefused when the package cannot be used; others when a later attempt may succeed */
  of(assignment: Assigned): Promise<Runnable>;
  /** The same without making it. */
  placeOf(assignment: Assigned): Runnable;
  /** Removes what was made for others. */
  keepOnly(assignments: readonly Assigned[]): Promise<void>;
}

const WORKER = 'agent-worker.mjs';
const INSTRUCTIONS = 'instructions.md';
const UNFINISHED = '.new-';

/**
 * @param folder made when the first agent is started; sandbox users may enter it
 * @param worker undefined: this node runs no agents
 */
export function openRunnables(packages: PackageStore, folder: string, worker: AgentWorker | undefined): Runnables {
  const underWay = new Map<string, Promise<void>>();

  function placeOf({ packageHash, workload }: Assigned): Runnable {
    if (workload.runtime !== 'agent' || worker === undefined)
      return { app: packages.placeOf(packageHash), manifest: workload };
    const program = worker.identity();
    return { app: join(folder, nameOf(packageHash, program)), manifest: asScript(workload), program };
  }

  /** One at a time for each name; a file or folder under its final name is whole. */
  function once(place: string, make: () => Promise<void>): Promise<void> {
    if (existsSync(place)) return Promise.resolve();
    const existing = underWay.get(place);
    if (existing !== undefined) return existing;
    const work = make().finally(() => underWay.delete(place));
    underWay.set(place, work);
    return work;
  }

  async function makeWorker(place: string): Promise<void> {
    const made = join(folder, `${UNFINISHED}${WORKER}`);
    await worker?.makeProgram(made);
    chmodSync(made, modes.givenFile);
    // Under its final name it counts as whole, after a loss of power too.
    syncToDisk(made);
    renameSync(made, place);
    syncToDisk(folder);
  }

  async function makeFolder(place: string, program: string, instructions: Buffer): Promise<void> {
    const made = join(folder, `${UNFINISHED}${program}-${process.pid}`);
    rmSync(made, { recursive: true, force: true });
    mkdirSync(made);
    chmodSync(made, modes.given);
    // The same file for all agents, so that they share its memory.
    linkSync(workerOf(program), join(made, WORKER));
    writeFileAtomically(join(made, INSTRUCTIONS), instructions, modes.givenFile);
    renameSync(made, place);
    syncToDisk(folder);
  }

  const workerOf = (program: string) => join(folder, `worker-${program}.mjs`);

  return {
    placeOf,
    async of(assignment) {
      const source = await packageFolder(packages, assignment.packageHash);
      const runnable = placeOf(assignment);
      const { agent } = assignment.workload;
      const { program } = runnable;
      if (agent === undefined) return runnable;
      if (program === undefined) throw new StartRefused('This machine runs no agents.');
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, modes.passage);
      await once(workerOf(program), () => makeWorker(workerOf(program)));
      const instructions = readInstructions(source, agent.instructions);
      await once(runnable.app, () => makeFolder(runnable.app, program, instructions));
      return runnable;
    },
    async keepOnly(assignments) {
      if (!existsSync(folder) || underWay.size > 0) return;
      const agents = worker === undefined ? [] : assignments.filter(({ workload }) => workload.runtime === 'agent');
      const kept = new Set(agents.map((one) => placeOf(one).app));
      if (agents.length > 0 && worker !== undefined) kept.add(workerOf(worker.identity()));
      for (const name of readdirSync(folder)) {
        if (!kept.has(join(folder, name))) await rm(join(folder, name), { recursive: true, force: true });
      }
    },
  };
}

/** The environment variable by which the worker learns what it is. */
export function agentVariables({ workload, intelligence = [] }: Pick<Assignment, 'workload' | 'intelligence'>): {
  readonly PLATFORM_AGENT_JSON?: string;
} {
  if (workload.agent === undefined) return {};
  const order: AgentOrder = {
    manifest: workload.agent,
    providers: intelligence.map(({ provider, dialect }) => ({ provider, dialect })),
  };
  return { PLATFORM_AGENT_JSON: JSON.stringify(order) };
}

function asScript({ agent: _, ...workload }: WorkloadManifest): WorkloadManifest {
  return { ...workload, runtime: 'node', entry: WORKER };
}

function nameOf(packageHash: string, program: string): string {
  return `${packageHash}-${program}`;
}

async function packageFolder(packages: PackageStore, hash: string): Promise<string> {
  try {
    return await packages.workloadFolder(hash);
  } catch (error) {
    if (error instanceof PackageError) throw new StartRefused(error.message);
    throw error;
  }
}

function readInstructions(source: string, path: string): Buffer {
  try {
    return readFileSync(join(source, path)).subarray(0, limits.agentInstructions.value);
  } catch {
    throw new StartRefused(`The package has no file workload/${path}, which its manifest names as instructions.`);
  }
}
