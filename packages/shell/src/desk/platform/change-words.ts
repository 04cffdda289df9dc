// A change on record, in words.
import type { RecordedChange } from '@platform/contract';
import { SETTING_WORDS, valueInWords } from './setting-words.ts';

const KEY_WORDS = {
  set: ', with a new key',
  kept: ', with the same key',
  removed: ', and its key was deleted',
  none: ', without a key',
} as const;

export function changeInWords(change: RecordedChange): string {
  switch (change.kind) {
    case 'setting': {
      const { setting, value, former } = change;
      const words = (one: string | number | null) => valueInWords(setting, one);
      return `${SETTING_WORDS[setting].label}: ${words(value)} instead of ${words(former)}`;
    }
    case 'provider-removed':
      return `AI provider ${change.provider} (${change.baseUrl}) was removed`;
    case 'provider-set': {
      const { provider, baseUrl, formerBaseUrl, key } = change;
      if (formerBaseUrl === null) return `AI provider ${provider} (${baseUrl}) was added${KEY_WORDS[key]}`;
      const place = baseUrl === formerBaseUrl ? baseUrl : `${baseUrl} instead of ${formerBaseUrl}`;
      return `AI provider ${provider} (${place}) was changed${KEY_WORDS[key]}`;
    }
  }
}
