// What a keeper reports about its machine, beyond output and exit code. All of it counts as untrusted input of the
// guest.
import type { Readable } from 'node:stream';
import type { WorkloadManifest } from '@platform/contract';
import { describeExit, type Exit } from '../exit-reason.ts';
import { bridgePorts, type KeeperReport } from './places.ts';

export interface Reports {
  /** Listens to the descriptor on which the keeper reports. */
  take(stream: Readable): void;
  /** TCP ports on which the workload listens. */
  ports(): readonly number[];
  /** In the terms of the workload's own limits, which are smaller than its machine's. */
  explain(exit: Exit, manifest: Pick<WorkloadManifest, 'resources' | 'runtime'>): Exit;
}

const LONGEST_REPORT = 16_384;
const LONGEST_LAST_WORDS = 200;

export function collectReports(): Reports {
  let ports: readonly number[] = [];
  let memoryKills = 0;
  /** What the console said last, when the machine ended without a word of its init. */
  let lost: string | undefined;
  const understand = (line: string) => {
    const said = parseReport(line);
    if (said?.kind === 'ports') ports = said.ports;
    else if (said?.kind === 'memory') memoryKills = said.kills;
    else if (said?.kind === 'lost') lost = said.console;
  };
  return {
    take(stream) {
      let text = '';
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
        const lines = text.split('\n');
        text = lines.pop() ?? '';
        if (text.length > LONGEST_REPORT) stream.destroy();
        for (const line of lines) understand(line);
      });
      // A keeper that can say no more has ended, and its exit says the rest.
      stream.on('error', () => stream.destroy());
    },
    ports: () => ports.filter((port) => !bridgePorts.some((own) => own.bridge === port || own.question === port)),
    explain(exit, { resources: { memoryMiB }, runtime }) {
      if (lost === undefined || exit.code !== 1)
        return describeExit(exit.code, exit.signal, memoryKills, { memoryMiB, runtime });
      const last = lastLine(lost);
      return { ...exit, reason: `Its virtual machine ended unexpectedly${last === undefined ? '.' : `: ${last}`}` };
    },
  };
}

function lastLine(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '')?.slice(0, LONGEST_LAST_WORDS);
}

function parseReport(line: string): KeeperReport | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
    if (value.kind === 'ports' && 'ports' in value && Array.isArray(value.ports)) {
      return { kind: 'ports', ports: value.ports.filter((port) => Number.isInteger(port)).slice(0, 64) };
    }
    if (value.kind === 'memory' && 'kills' in value) return { kind: 'memory', kills: Number(value.kills) };
    if (value.kind === 'lost' && 'console' in value) return { kind: 'lost', console: String(value.console) };
  } catch {
    // not what our keeper writes
  }
  return undefined;
}
