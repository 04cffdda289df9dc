// What the question before each change of an account says.
import type { AccountChange } from '@platform/contract';
import type { IconName } from '../../design/icons.tsx';

export interface ChangeWords {
  /** After the name of the app that asks. */
  readonly wants: string;
  readonly title: string;
  readonly text: string;
  readonly effects: readonly string[];
  readonly no: string;
  readonly yes: string;
  readonly doing: string;
  readonly danger: boolean;
  readonly icon: IconName;
}

const PLAN = {
  wants: 'wants to change the plan of an account:',
  text: 'Raw object storage needs the paid plan. Backends that gain or lose it restart.',
  effects: [],
  no: 'Cancel',
  doing: 'Changing …',
  danger: false,
  icon: 'settings',
} as const;

export function changeWords(name: string, change: AccountChange): ChangeWords {
  switch (change) {
    case 'suspend':
      return {
        wants: 'wants to suspend an account:',
        title: `Suspend ${name}?`,
        text: '',
        effects: [
          'It is signed out everywhere, and cannot sign in.',
          'Its apps lose access to the platform, and their backends stop.',
          'Nothing is deleted. You can resume it at any time.',
        ],
        no: 'Cancel',
        yes: `Suspend ${name}`,
        doing: 'Suspending …',
        danger: true,
        icon: 'pause',
      };
    case 'resume':
      return {
        wants: 'wants to resume an account:',
        title: `Resume ${name}?`,
        text: 'Its owner can sign in again, and its backends start when they are used.',
        effects: [],
        no: 'Cancel',
        yes: `Resume ${name}`,
        doing: 'Resuming …',
        danger: false,
        icon: 'play',
      };
    case 'delete':
      return {
        wants: 'wants to delete an account:',
        title: `Delete ${name}?`,
        text: '',
        effects: [
          'Its apps with all their data, its secrets and notifications are gone immediately, and nobody can bring them back.',
          'Apps it published leave the Store; people who installed them keep them.',
          `Nobody can register as ${name} again.`,
        ],
        no: 'Keep it',
        yes: `Delete ${name}`,
        doing: 'Deleting …',
        danger: true,
        icon: 'trash',
      };
    case 'plan-free':
      return { ...PLAN, title: `Give ${name} the free plan?`, yes: 'Free plan' };
    case 'plan-paid':
      return { ...PLAN, title: `Give ${name} the paid plan?`, yes: 'Paid plan' };
    case 'plan-default':
      return {
        ...PLAN,
        title: `Give ${name} the default plan?`,
        text: `The settings of the platform decide. ${PLAN.text}`,
        yes: 'Default plan',
      };
  }
}
