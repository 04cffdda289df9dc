// Opens the docker driver for the conformance suite, on the engine that the test has started.
import { readFile, writeFile } from 'node:fs/promises';
import { gatewaySidecar } from '../../../../tests/support/gateway.ts';
import { openDockerDriver } from '../../src/drivers/docker/docker-driver.ts';
import type { Driver } from '../../src/drivers/driver.ts';
import type { GatewaySidecar } from '../../src/gateway-port.ts';

/** Made once for all benches of this process: each time takes more than a second of processor time. */
let program: Promise<Buffer> | undefined;
const sidecar: GatewaySidecar = {
  ...gatewaySidecar,
  async makeProgram(file) {
    program ??= gatewaySidecar.makeProgram(file).then(() => readFile(file));
    await writeFile(file, await program);
  },
};

export function openForConformance(dataDirectory: string, options: Readonly<Record<string, string>>): Promise<Driver> {
  const { socketPath, networkNamespace, imageRegistries, dns, privateOrigins } = options;
  if (socketPath === undefined || networkNamespace === undefined) throw new Error('Name the engine.');
  const say = (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  return openDockerDriver({
    dataDirectory,
    sidecar,
    log: { debug: () => undefined, info: () => undefined, warn: say, error: say },
    socketPath,
    networkNamespace,
    ...(dns === undefined ? {} : { dns: [dns] }),
    ...(privateOrigins === undefined ? {} : { privateOrigins: privateOrigins.split(',') }),
    ...(imageRegistries === undefined ? {} : { imageRegistries: imageRegistries.split(',') }),
  });
}
