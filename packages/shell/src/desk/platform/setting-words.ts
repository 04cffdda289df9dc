// What the settings of the platform are called, and what each of their values means.
import type { OperatorSettings, SettingName } from '@platform/contract';
import type { IconName } from '../../design/icons.tsx';
import { MiB, sizeText } from '../../design/words.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly about: string;
}

interface SettingWords {
  readonly icon: IconName;
  readonly label: string;
  /** What says it on the server. */
  readonly file: string;
  /** For a setting that is one of some words. */
  readonly choices?: readonly Choice[];
  /** For one that is typed. */
  readonly typed?: { readonly help: string; read(text: string): string | number | null };
}

const AI_FILE = 'The file of AI providers (PLATFORM_INTELLIGENCE_FILE)';

/** Digits with or without separators between thousands. */
function wholeNumber(least: number, most: number): (text: string) => number | null {
  return (text) => {
    const digits = text.replace(/[\s,.’']/g, '');
    const amount = /^\d{1,16}$/.test(digits) ? Number(digits) : -1;
    return amount >= least && amount <= most ? amount : null;
  };
}

export const SETTING_WORDS: Readonly<Record<SettingName, SettingWords>> = {
  registration: {
    icon: 'person',
    label: 'Registration',
    file: 'PLATFORM_REGISTRATION',
    choices: [
      { value: 'open', label: 'Open', about: 'Anyone who can reach the platform can register.' },
      { value: 'invite', label: 'By invitation', about: 'Only people with a link from you, made in Fleet.' },
      { value: 'closed', label: 'Closed', about: 'No one can register. Links you made stop working meanwhile.' },
    ],
  },
  defaultPlan: {
    icon: 'box',
    label: 'Default plan',
    file: 'PLATFORM_DEFAULT_PLAN',
    choices: [
      { value: 'free', label: 'Free', about: 'Accounts have no object storage unless you give them the paid plan.' },
      {
        value: 'paid',
        label: 'Paid',
        about: 'All accounts may use object storage, unless you set another plan for one.',
      },
    ],
  },
  monthlyTokens: {
    icon: 'ai',
    label: 'Tokens a month',
    file: AI_FILE,
    typed: { help: 'A whole number, such as 1,000,000. Months are those of UTC.', read: wholeNumber(0, 1e15) },
  },
  requestsPerMinute: {
    icon: 'clock',
    label: 'Calls a minute',
    file: AI_FILE,
    typed: { help: 'A whole number from 1 to 1,000,000.', read: wholeNumber(1, 1_000_000) },
  },
  bodyMiB: {
    icon: 'upgrade',
    label: 'Largest request',
    file: AI_FILE,
    typed: {
      help: 'In MiB, from 1 to 512. Apps that run keep theirs until their next start.',
      read: wholeNumber(1, 512),
    },
  },
  currency: {
    icon: 'globe',
    label: 'Currency of prices',
    file: AI_FILE,
    typed: {
      help: 'Three letters (ISO 4217), such as USD or EUR.',
      read: (text) => (/^[A-Za-z]{3}$/.test(text.trim()) ? text.trim().toUpperCase() : null),
    },
  },
};

/** A value as people read it. */
export function valueInWords(name: SettingName, value: string | number | null): string {
  if (value === null) return 'the default';
  const choice = SETTING_WORDS[name].choices?.find((one) => one.value === value);
  if (choice !== undefined) return choice.label;
  if (typeof value === 'string') return value;
  return name === 'bodyMiB' ? sizeText(value * MiB) : value.toLocaleString('en');
}

/** Under the name of a setting. */
export function aboutSetting(name: SettingName, settings: OperatorSettings): string {
  const { value } = settings[name];
  const choice = SETTING_WORDS[name].choices?.find((one) => one.value === value);
  return choice === undefined ? valueInWords(name, value) : `${choice.label}. ${choice.about}`;
}
