// The file that PLATFORM_INTELLIGENCE_FILE names: AI providers, their keys, and what each app may use (contract 4a). Read
// at the start and again on SIGHUP; a wrong one stops the start, and later keeps what was read before.
import { readFileSync, statSync } from 'node:fs';
import * as path from 'node:path';
import {
  currencyCode,
  type IntelligenceDialect,
  intelligenceDialect,
  limits,
  MiB,
  providerId,
  providerModel,
  readableLine,
  sizeText,
} from '@platform/contract';
import * as z from 'zod';
import { reasonOf, StartError } from './start-error.ts';

export interface IntelligenceProvider {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Without trailing slash. */
  readonly baseUrl: string;
  readonly dialect: IntelligenceDialect;
  /** Whether it takes `stream_options`, by which a stream reports its usage. */
  readonly streamUsage: boolean;
  /** The platform's own key, for everybody; `null` for none. */
  readonly platformKey: string | null;
  /** Variables that workloads get; `null` for none. */
  readonly environment: { readonly baseUrl: string; readonly apiKey: string } | null;
  readonly models: readonly z.infer<typeof providerModel>[];
}

export interface IntelligenceSettings {
  readonly providers: readonly IntelligenceProvider[];
  readonly requestsPerMinute: number;
  readonly monthlyTokens: number;
  readonly bodyBytes: number;
  /** ISO 4217, of all prices. */
  readonly currency: string;
}

const NO_PROVIDERS: IntelligenceSettings = {
  providers: [],
  requestsPerMinute: limits.intelligenceRate.value,
  monthlyTokens: limits.intelligenceMonthlyTokens.value,
  bodyBytes: limits.intelligenceBody.value,
  currency: 'USD',
};

/** What providers without `environment` get, by their place in the file. */
const NEUTRAL_NAMES = [
  { baseUrl: 'PROVIDER_A_BASE_URL', apiKey: 'PROVIDER_A_API_KEY' },
  { baseUrl: 'PROVIDER_B_BASE_URL', apiKey: 'PROVIDER_B_API_KEY' },
];
/** What would change how a workload itself starts, or belongs to the platform. */
const RESERVED_NAME =
  /^(PLATFORM_|LD_|DYLD_|NODE_|AWS_)|^(PATH|HOME|PORT|LANG|TZ|SHELL|USER|GLIBC_TUNABLES|BASH_ENV|ENV|IFS)$/;
const MOST_BYTES = 256 * 1024;

const variable = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be the name of a variable, such as OPENAI_BASE_URL')
  .refine((name) => !RESERVED_NAME.test(name), 'is a name that the platform or the system uses itself');

const providerEntry = z.strictObject({
  id: providerId,
  name: z
    .string()
    .min(1)
    .max(60)
    .regex(...readableLine)
    .optional(),
  baseUrl: z
    .string()
    .max(1_024)
    .refine(isBaseUrl, 'must be an http: or https: address without user, query and fragment'),
  dialect: intelligenceDialect,
  streamUsage: z.boolean().optional(),
  platformKeyFile: z.string().min(1).optional(),
  environment: z.strictObject({ baseUrl: variable, apiKey: variable }).optional(),
  models: z.array(providerModel).max(limits.intelligenceModels.value).optional(),
});

const fileShape = z.strictObject({
  providers: z.array(providerEntry).max(limits.intelligenceProviders.value),
  requestsPerMinute: z.int().min(1).max(1_000_000).optional(),
  monthlyTokens: z.int().min(0).max(1e15).optional(),
  bodyMiB: z.int().min(1).max(512).optional(),
  currency: currencyCode.optional(),
});

/** The settings in force, replaced as a whole. */
export class IntelligenceFile {
  readonly #file: string | null;
  #settings: IntelligenceSettings;

  /** @param file `null` for none. @throws StartError when the file is wrong */
  constructor(file: string | null) {
    this.#file = file;
    this.#settings = file === null ? NO_PROVIDERS : readIntelligenceFile(file);
  }

  get settings(): IntelligenceSettings {
    return this.#settings;
  }

  find(provider: string): IntelligenceProvider | undefined {
    return this.#settings.providers.find(({ id }) => id === provider);
  }

  /** @throws StartError when the file is wrong; what was read before stays in force */
  reload(): void {
    if (this.#file !== null) this.#settings = readIntelligenceFile(this.#file);
  }
}

/** @throws StartError that says what is wrong with the file, or with that of a key */
export function readIntelligenceFile(file: string): IntelligenceSettings {
  const parsed = fileShape.safeParse(parse(readText(file, file), file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrongFile(file, `${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? 'is not valid'}`);
  }
  const { providers, requestsPerMinute, monthlyTokens, bodyMiB, currency } = parsed.data;
  const settings = {
    providers: providers.map((entry, place) => providerOf(entry, place, file)),
    requestsPerMinute: requestsPerMinute ?? NO_PROVIDERS.requestsPerMinute,
    monthlyTokens: monthlyTokens ?? NO_PROVIDERS.monthlyTokens,
    bodyBytes: bodyMiB === undefined ? NO_PROVIDERS.bodyBytes : bodyMiB * MiB,
    currency: currency ?? NO_PROVIDERS.currency,
  };
  refuseRepeated(
    file,
    settings.providers.map(({ id }) => id),
    'two providers have the id',
  );
  refuseRepeated(
    file,
    settings.providers.flatMap(({ environment }) => (environment === null ? [] : Object.values(environment))),
    'two providers set the variable',
  );
  return settings;
}

function providerOf(
  { id, name, baseUrl, dialect, streamUsage, platformKeyFile, environment, models }: z.infer<typeof providerEntry>,
  place: number,
  file: string,
): IntelligenceProvider {
  return {
    id,
    name: name ?? id,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    dialect,
    streamUsage: streamUsage ?? true,
    platformKey:
      platformKeyFile === undefined ? null : readKey(path.resolve(path.dirname(file), platformKeyFile), file),
    environment: environment ?? NEUTRAL_NAMES[place] ?? null,
    models: models ?? [],
  };
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash, href } = new URL(text);
  const isPlain = username === '' && password === '' && search === '' && hash === '' && !/[?#]/.test(text);
  return (
    (protocol === 'https:' || protocol === 'http:') && isPlain && href.replace(/\/$/, '') === text.replace(/\/$/, '')
  );
}

function refuseRepeated(file: string, names: readonly string[], what: string): void {
  const repeated = names.find((name, place) => names.indexOf(name) !== place);
  if (repeated !== undefined) throw wrongFile(file, `${what} ${repeated}`);
}

/** The key is worth money: nobody but the user of the platform may read its file. */
function readKey(keyFile: string, file: string): string {
  const key = readText(keyFile, file).trim();
  if ((statSync(keyFile).mode & 0o077) !== 0)
    throw wrongFile(file, `the key file ${keyFile} is open to other users; run chmod 600 on it`);
  if (!/^[\x21-\x7e]{1,1024}$/.test(key))
    throw wrongFile(file, `the key file ${keyFile} must hold one word of printable ASCII characters`);
  return key;
}

function readText(name: string, file: string): string {
  try {
    const { size } = statSync(name);
    if (size > MOST_BYTES) throw wrongFile(file, `${name} is larger than ${sizeText(MOST_BYTES)}`);
    return readFileSync(name, 'utf8');
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw wrongFile(file, `${name} cannot be read: ${reasonOf(error)}`);
  }
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrongFile(file, 'it is not JSON');
  }
}

function wrongFile(file: string, what: string): StartError {
  return new StartError(
    'wrong_variable',
    `PLATFORM_INTELLIGENCE_FILE names ${file}, which is wrong: ${what}. docs/operators.md has an example.`,
  );
}
