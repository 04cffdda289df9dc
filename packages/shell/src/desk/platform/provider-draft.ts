// A provider as it is typed, and as core takes it.
import type { IntelligenceDialect, OperatorProvider, ProviderModel } from '@platform/contract';

export interface ProviderDraft {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
  readonly dialect: IntelligenceDialect;
  readonly streamUsage: boolean;
  /** One a line: its id, and if known its prices of input and output. */
  readonly models: string;
  readonly urlVariable: string;
  readonly keyVariable: string;
  /** Empty: as it is. */
  readonly key: string;
}

export const NO_PROVIDER: ProviderDraft = {
  id: '',
  name: '',
  baseUrl: '',
  dialect: 'openai',
  streamUsage: true,
  models: '',
  urlVariable: '',
  keyVariable: '',
  key: '',
};

/** What backends get when nobody names variables: not to be said again. */
const NEUTRAL = /^PROVIDER_[AB]_(BASE_URL|API_KEY)$/;

export function draftOf(provider: OperatorProvider): ProviderDraft {
  const { provider: id, name, baseUrl, dialect, streamUsage, models, environment } = provider;
  const own = environment !== null && !NEUTRAL.test(environment.baseUrl) ? environment : null;
  return {
    ...{ id, name: name === id ? '' : name, baseUrl, dialect, streamUsage, key: '' },
    models: models.map(lineOf).join('\n'),
    urlVariable: own?.baseUrl ?? '',
    keyVariable: own?.apiKey ?? '',
  };
}

function lineOf({ id, inputPrice, outputPrice }: ProviderModel): string {
  return [id, inputPrice ?? (outputPrice === undefined ? undefined : '-'), outputPrice]
    .filter((part) => part !== undefined)
    .join(' ');
}

export type DraftField = 'id' | 'baseUrl' | 'models' | 'variables' | 'key';
export type Problems = Readonly<Partial<Record<DraftField, string>>>;

/** What is wrong, by field; nothing when all is well. */
export function problemsIn(draft: ProviderDraft, takenIds: readonly string[]): Problems {
  const problems: Partial<Record<DraftField, string>> = {};
  if (!/^[a-z0-9-]{1,32}$/.test(draft.id)) problems.id = 'Use 1 to 32 of a–z, 0–9 and -, such as openai.';
  else if (takenIds.includes(draft.id)) problems.id = 'There is a provider of this id already.';
  const url = URL.canParse(draft.baseUrl.trim()) ? new URL(draft.baseUrl.trim()) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    problems.baseUrl = 'Enter an address that starts with https:// or http://.';
  else if (url.username !== '' || url.search !== '' || url.hash !== '')
    problems.baseUrl = 'Enter the address without user name, ? and #.';
  if (modelsIn(draft.models) === null)
    problems.models = 'Write one model per line: its id, then if you like two prices, such as gpt-5-mini 0.25 2.';
  const variables = [draft.urlVariable, draft.keyVariable].map((text) => text.trim());
  if (variables.some((text) => text !== '') && !variables.every((text) => /^[A-Z][A-Z0-9_]{0,63}$/.test(text)))
    problems.variables = 'Name both or neither, in capitals, such as OPENAI_BASE_URL and OPENAI_API_KEY.';
  if (draft.key.trim() !== '' && !/^[\x21-\x7e]+$/.test(draft.key.trim()))
    problems.key = 'Paste the key as the provider shows it: one word without spaces.';
  return problems;
}

/** `null` where a line is no model. */
function modelsIn(text: string): ProviderModel[] | null {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const models: ProviderModel[] = [];
  for (const [id = '', ...prices] of lines) {
    if (id === '') continue;
    if (prices.length > 2 || id.length > 200 || !prices.every((price) => /^(-|\d+(\.\d+)?)$/.test(price))) return null;
    const [input = '-', output = '-'] = prices;
    models.push({
      id,
      ...(input === '-' ? {} : { inputPrice: Number(input) }),
      ...(output === '-' ? {} : { outputPrice: Number(output) }),
    });
  }
  return models;
}

/** @param removeKey the platform shall have none */
export function bodyOf(draft: ProviderDraft, removeKey: boolean) {
  const { name, baseUrl, dialect, streamUsage, models, urlVariable, keyVariable, key } = draft;
  const named = urlVariable.trim() !== '';
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    baseUrl: baseUrl.trim(),
    dialect,
    ...(streamUsage ? {} : { streamUsage }),
    ...(named ? { environment: { baseUrl: urlVariable.trim(), apiKey: keyVariable.trim() } } : {}),
    models: modelsIn(models) ?? [],
    ...(key.trim() === '' ? (removeKey ? { key: null } : {}) : { key: key.trim() }),
  };
}
