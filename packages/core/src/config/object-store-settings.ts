// Raw object storage: the store that the operator has, and who may use it.
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import * as z from 'zod';
import type { CoreConfig, ObjectStore } from './config.ts';
import { reasonOf } from './start-error.ts';
import { absolutePath, choiceOf, optionalChoiceOf, patternOf, type Read, wrong } from './variables.ts';

export type ObjectStoreSettings = Pick<CoreConfig, 'defaultPlan' | 'objectStore'>;

const ENDPOINT = 'PLATFORM_OBJECT_STORE_ENDPOINT';
const CREDENTIALS = 'PLATFORM_OBJECT_STORE_CREDENTIALS_FILE';
const OTHERS = [
  'PLATFORM_OBJECT_STORE_REGION',
  'PLATFORM_OBJECT_STORE_BUCKET',
  CREDENTIALS,
  'PLATFORM_OBJECT_STORE_PATH_STYLE',
] as const;

const credentials = z.strictObject({
  accessKeyId: z.string().regex(/^[!-~]{1,256}$/),
  secretAccessKey: z.string().regex(/^[!-~]{1,1024}$/),
  sessionToken: z
    .string()
    .regex(/^[!-~]{1,8192}$/)
    .optional(),
});

export function readObjectStoreSettings(read: Read): ObjectStoreSettings {
  return {
    defaultPlan: optionalChoiceOf(read, 'PLATFORM_DEFAULT_PLAN', ['free', 'paid']),
    objectStore: readStore(read),
  };
}

function readStore(read: Read): ObjectStore | null {
  if (read(ENDPOINT) === undefined) {
    const useless = OTHERS.find((name) => read(name) !== undefined);
    if (useless === undefined) return null;
    throw wrong(
      useless,
      `is set, but ${ENDPOINT} is not`,
      `set ${ENDPOINT} to the origin of the store, or unset this one`,
    );
  }
  const endpoint = readEndpoint(read);
  const pathStyle = choiceOf(read, 'PLATFORM_OBJECT_STORE_PATH_STYLE', ['true', 'false']) === 'true';
  if (!pathStyle && isIP(new URL(endpoint).hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw wrong(
      'PLATFORM_OBJECT_STORE_PATH_STYLE',
      `is false, but ${ENDPOINT} is an address`,
      'use path style, or name the host',
    );
  return {
    endpoint,
    pathStyle,
    region: patternOf(
      read,
      'PLATFORM_OBJECT_STORE_REGION',
      /^[A-Za-z0-9-]{1,64}$/,
      'the region of the store, like eu-central-1',
    ),
    bucket: patternOf(
      read,
      'PLATFORM_OBJECT_STORE_BUCKET',
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      'the name of a bucket that the platform has for itself',
    ),
    credentials: readCredentials(read),
  };
}

function readEndpoint(read: Read): string {
  const value = read(ENDPOINT) ?? '';
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== value.toLowerCase().replace(/\/$/, ''))
    throw wrong(
      ENDPOINT,
      `is "${value}"`,
      'set the origin of the store alone, like https://s3.eu-central-1.example.com',
    );
  const isLoopback = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback)
    throw wrong(ENDPOINT, 'would send objects over http to another machine', 'use https');
  return url.origin;
}

/** No refusal repeats what the file holds. */
function readCredentials(read: Read): ObjectStore['credentials'] {
  const value = read(CREDENTIALS);
  if (value === undefined)
    throw wrong(CREDENTIALS, `is missing, which ${ENDPOINT} needs`, 'name a file with the access key');
  const file = absolutePath(CREDENTIALS, value);
  const text = contentOf(file);
  const parsed = credentials.safeParse(jsonOf(text));
  if (!parsed.success)
    throw wrong(
      CREDENTIALS,
      `names ${file}, which does not hold an access key`,
      'write { "accessKeyId": "…", "secretAccessKey": "…" } into it, with "sessionToken" where there is one',
    );
  return parsed.data;
}

function contentOf(file: string): string {
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw wrong(CREDENTIALS, `names ${file}, which other users can read`, `run chmod 600 ${file}`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('E'))
      throw wrong(CREDENTIALS, `names ${file}, which cannot be read (${reasonOf(error)})`, 'check path and owner');
    throw error;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which no shape takes
  }
}
