// What a project has of the platform itself: the schema of its manifest, and in plain JavaScript the SDK's types for editors.
// `init` writes them, `sdk` writes those of a later version.
import { stat, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { manifestSchema } from '@platform/contract/manifest-schema';
import { writeSdkTypes } from '@platform/sdk/made-once';

/** Many small files that only editors read. */
export const TYPES = `types${path.sep}`;
const SDK_TYPES = path.join(TYPES, 'sdk');
const SCHEMA = 'manifest.schema.json';

export function writeSchema(project: string): Promise<void> {
  return writeFile(path.join(project, SCHEMA), `${JSON.stringify(manifestSchema(), null, 2)}\n`);
}

export function writeTypes(project: string): Promise<void> {
  return writeSdkTypes(path.join(project, SDK_TYPES));
}

/** Whether it is one of `init` in JavaScript, which has the SDK from the packer and its types here. */
export function isPlainProject(project: string): Promise<boolean> {
  return exists(path.join(project, SDK_TYPES, 'workload.d.ts'));
}

/** Writes anew what the project has of them. @returns the names of what that is */
export async function renewPlatformFiles(project: string): Promise<readonly string[]> {
  const hasSchema = await exists(path.join(project, SCHEMA));
  const hasTypes = await isPlainProject(project);
  if (hasSchema) await writeSchema(project);
  if (hasTypes) await writeTypes(project);
  return [...(hasSchema ? [SCHEMA] : []), ...(hasTypes ? [SDK_TYPES] : [])];
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
