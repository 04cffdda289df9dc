// Opens the docker driver for drivers/conformance, on the engine that the test has started.
import { gatewaySidecar } from '@platform/gateway/sidecar';
import type { Driver } from '../driver.ts';
import { openDockerDriver } from './docker-driver.ts';

export function openForConformance(dataDirectory: string, options: Readonly<Record<string, string>>): Promise<Driver> {
  const { socketPath, networkNamespace, imageRegistries, dns } = options;
  if (socketPath === undefined || networkNamespace === undefined) throw new Error('Name the engine.');
  const say = (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  return openDockerDriver({
    dataDirectory,
    sidecar: gatewaySidecar,
    log: { debug: () => undefined, info: () => undefined, warn: say, error: say },
    socketPath,
    networkNamespace,
    ...(dns === undefined ? {} : { dns: [dns] }),
    ...(imageRegistries === undefined ? {} : { imageRegistries: imageRegistries.split(',') }),
  });
}
