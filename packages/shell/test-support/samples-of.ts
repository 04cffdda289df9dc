// How the tests call the methods of the bridge: each domain's samples are a file in bridge-samples/.
import { globSync } from 'node:fs';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BridgeCall } from '@platform/contract';
import type { Params } from '../src/apps/bridge/method.ts';

/** Parameters to call each method of a domain with, e.g. `SamplesOf<'apps'>` for every `apps.…`. */
export type SamplesOf<Domain extends string> = {
  readonly [Name in Extract<BridgeCall, `${Domain}.${string}`>]: readonly Params<Name>[];
};

type Samples = { readonly [Name in BridgeCall]: readonly Params<Name>[] };

/** Those of all domains. */
export async function allSamples(): Promise<Samples> {
  const files = globSync(path.join(import.meta.dirname, 'bridge-samples', '*.ts'));
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(file).href)));
  return Object.assign({}, ...modules.map(({ samples }) => samples));
}
