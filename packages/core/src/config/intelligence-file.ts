// The file that PLATFORM_INTELLIGENCE_FILE names: AI providers, their keys, and what each app may use (contract 4a). Read
// at the start and again on SIGHUP; a wrong one stops the start, and later keeps what was read before.
import {
  type IntelligenceDialect,
  limits,
  NEUTRAL_NAMES,
  type ProviderModel,
  providerId,
  providerShape,
  settingValues,
} from '@platform/contract';
import * as z from 'zod';
import { OperatorFile, type PlatformKey } from './operator-file.ts';

export type { PlatformKey } from './operator-file.ts';

export interface IntelligenceProvider {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Without trailing slash. */
  readonly baseUrl: string;
  readonly dialect: IntelligenceDialect;
  /** Whether it takes `stream_options`, by which a stream reports its usage. */
  readonly streamUsage: boolean;
  /** For everybody; `null` for none. */
  readonly platformKey: PlatformKey | null;
  /** Variables that workloads get; `null` for none. */
  readonly environment: { readonly baseUrl: string; readonly apiKey: string } | null;
  readonly models: readonly ProviderModel[];
}

/** What apps may use. */
export interface IntelligenceSettings {
  readonly providers: readonly IntelligenceProvider[];
  readonly requestsPerMinute: number;
  readonly monthlyTokens: number;
  readonly bodyBytes: number;
  /** ISO 4217, of all prices. */
  readonly currency: string;
}

/** What the file says; `null` for what it leaves open. */
export interface IntelligenceOfFile {
  readonly providers: readonly IntelligenceProvider[];
  readonly requestsPerMinute: number | null;
  readonly monthlyTokens: number | null;
  readonly bodyMiB: number | null;
  readonly currency: string | null;
}

const NO_FILE: IntelligenceOfFile = {
  providers: [],
  requestsPerMinute: null,
  monthlyTokens: null,
  bodyMiB: null,
  currency: null,
};

const named = (file: string) => new OperatorFile('PLATFORM_INTELLIGENCE_FILE', file);

const providerEntry = z.strictObject({
  id: providerId,
  ...providerShape,
  platformKeyFile: z.string().min(1).optional(),
});

const fileShape = z.strictObject({
  providers: z.array(providerEntry).max(limits.intelligenceProviders.value),
  requestsPerMinute: settingValues.requestsPerMinute.optional(),
  monthlyTokens: settingValues.monthlyTokens.optional(),
  bodyMiB: settingValues.bodyMiB.optional(),
  currency: settingValues.currency.optional(),
});

/** What the file last said, replaced as a whole. */
export class IntelligenceFile {
  readonly #file: string | null;
  #content: IntelligenceOfFile;

  /** @param file `null` for none. @throws StartError when the file is wrong */
  constructor(file: string | null) {
    this.#file = file;
    this.#content = file === null ? NO_FILE : readIntelligenceFile(file);
  }

  get content(): IntelligenceOfFile {
    return this.#content;
  }

  /** @throws StartError when the file is wrong; what was read before stays in force */
  reload(): void {
    if (this.#file !== null) this.#content = readIntelligenceFile(this.#file);
  }
}

/** @throws StartError that says what is wrong with the file, or with that of a key */
export function readIntelligenceFile(file: string): IntelligenceOfFile {
  const {
    providers: entries,
    requestsPerMinute = null,
    monthlyTokens = null,
    bodyMiB = null,
    currency = null,
  } = named(file).read(fileShape);
  const providers = entries.map((entry) => providerOf(entry, file));
  refuseRepeated(
    file,
    providers.map(({ id }) => id),
    'two providers have the id',
  );
  refuseRepeated(
    file,
    providers.flatMap(({ environment }, place) => Object.values(environment ?? NEUTRAL_NAMES[place] ?? {})),
    'two providers set the variable',
  );
  return { providers, requestsPerMinute, monthlyTokens, bodyMiB, currency };
}

function providerOf(
  { id, name, baseUrl, dialect, streamUsage, platformKeyFile, environment, models }: z.infer<typeof providerEntry>,
  file: string,
): IntelligenceProvider {
  return {
    id,
    name: name ?? id,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    dialect,
    streamUsage: streamUsage ?? true,
    platformKey: platformKeyFile === undefined ? null : named(file).key(platformKeyFile),
    environment: environment ?? null,
    models: models ?? [],
  };
}

function refuseRepeated(file: string, names: readonly string[], what: string): void {
  const repeated = names.find((name, place) => names.indexOf(name) !== place);
  if (repeated !== undefined) throw named(file).wrong(`${what} ${repeated}`);
}
