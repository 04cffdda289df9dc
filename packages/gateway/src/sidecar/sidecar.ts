// What a driver needs to run Gateways in processes of their own: the program, and the way to speak to one.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectSidecar, type SidecarGateway, type SidecarOptions } from './connect.ts';

export interface GatewaySidecar {
  /** Writes the program, one file for `node <file> <own folder> <socket of core> <socket to dial at>`. */
  makeProgram(file: string): Promise<void>;
  /** @throws Error when the process does not answer in time, cannot listen, or was never configured */
  connect(options: SidecarOptions): Promise<SidecarGateway>;
}

const run = promisify(execFile);

export const gatewaySidecar: GatewaySidecar = {
  async makeProgram(file) {
    // In a process of its own: a bundler would stay in the memory of this one.
    await run(process.execPath, [fileURLToPath(new URL('bundle.ts', import.meta.url)), file]);
  },
  connect: connectSidecar,
};
