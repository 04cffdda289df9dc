// The words of the guide: what each step is for, how it stands, and where it is done.
import type { SetupState } from '@platform/sdk/browser';

export interface SetupStep {
  readonly id: 'providers' | 'storage' | 'address' | 'registration' | 'machines' | 'backup';
  readonly title: string;
  /** `yours`: the platform cannot know whether it is done. */
  readonly state: 'done' | 'open' | 'yours';
  /** How it stands. */
  readonly now: string;
  /** What to do, before the names of the settings. */
  readonly how: string;
  readonly variables?: readonly string[];
  /** The page of Fleet where it is done. */
  readonly page?: string;
  /** Where it is described, in the folder of the platform. */
  readonly docs: { readonly file: string; readonly section?: string };
}

export const stateWords = { done: 'set up', open: 'not set up', yours: 'by hand' } as const;

/** In the order in which most people need them. */
export function setupSteps(setup: SetupState): readonly SetupStep[] {
  return [providers(setup), storage(setup), address(setup), registration(setup), machines(setup), backup];
}

function providers({ providers: names }: SetupState): SetupStep {
  return {
    id: 'providers',
    title: 'AI models',
    state: names.length > 0 ? 'done' : 'open',
    now: names.length > 0 ? `Apps reach ${listed(names)}.` : 'Apps that talk to AI models cannot work yet.',
    how: 'Add a provider, or a model server that runs on this machine, in Settings. A file of yours can name them as well:',
    variables: ['PLATFORM_INTELLIGENCE_FILE'],
    page: 'Settings',
    docs: { file: 'docs/operators.md', section: 'AI providers' },
  };
}

function storage({ objectStore }: SetupState): SetupStep {
  return {
    id: 'storage',
    title: 'Object storage',
    state: objectStore ? 'done' : 'open',
    now: objectStore
      ? 'Apps of accounts with the paid plan keep files in your S3 store.'
      : 'Apps keep files in their volumes alone; those that need object storage cannot work yet.',
    how: 'Name an S3 store, and restart:',
    variables: [
      'PLATFORM_OBJECT_STORE_ENDPOINT',
      'PLATFORM_OBJECT_STORE_BUCKET',
      'PLATFORM_OBJECT_STORE_CREDENTIALS_FILE',
    ],
    docs: { file: 'docs/operators.md', section: 'An object store for apps' },
  };
}

function address({ address: { origin, local } }: SetupState): SetupStep {
  return {
    id: 'address',
    title: 'Address',
    state: local ? 'open' : 'done',
    now: local ? `Only this machine reaches the platform, at ${origin}.` : `People reach the platform at ${origin}.`,
    how: local
      ? 'For other people it needs a server with names of its own and certificates. Passkeys belong to an address: decide before you invite anybody.'
      : 'Apps that answer the internet need one more domain.',
    docs: local ? { file: 'docs/operators.md', section: 'On a server' } : { file: 'docs/operations/public.md' },
  };
}

function registration({ registration: { mode, accounts, invitations }, address: { local } }: SetupState): SetupStep {
  const who = {
    open: `Anyone who reaches the platform${local ? ' from this machine' : ''} can register.`,
    invite: 'People register with an invitation.',
    closed: 'Nobody else can register.',
  }[mode];
  const waiting = invitations === 0 ? '' : ` ${counted(invitations, 'invitation')} not used yet.`;
  return {
    id: 'registration',
    title: 'People',
    state: mode === 'open' && !local ? 'open' : 'done',
    now: `${who} There ${accounts === 1 ? 'is 1 account' : `are ${accounts} accounts`}.${waiting}`,
    how: 'Invite people in Invitations. Settings says who may register without.',
    page: 'Invitations',
    docs: { file: 'docs/operators.md', section: 'Invitations' },
  };
}

function machines({ machines: { total, ready } }: SetupState): SetupStep {
  return {
    id: 'machines',
    title: 'Machines',
    state: ready > 0 ? 'done' : 'open',
    now:
      ready === total
        ? `${counted(total, 'machine')} for backends.`
        : `${ready} of ${counted(total, 'machine')} ready.`,
    how: 'Overview shows what each has and carries. ./platform doctor says what this one cannot limit, and how to change that. More machines join with a token.',
    page: 'Overview',
    docs: { file: 'docs/operations/nodes.md' },
  };
}

const backup: SetupStep = {
  id: 'backup',
  title: 'Backup',
  state: 'yours',
  now: 'The platform makes no backups by itself.',
  how: 'Stop it and copy its data folder; keep master.key in another place, without which the secrets in a backup are lost.',
  docs: { file: 'docs/operators.md', section: 'Backup and restore' },
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names);
}
