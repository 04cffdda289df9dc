// What holds for everybody on the platform: who may register, the plan of accounts, AI providers and what apps may use of them.
// The shell draws it and no app: it takes keys, and each change is confirmed with a passkey.
import type { OperatorSettings } from '@platform/contract';
import { addressOf } from '../../address/view.ts';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { Changes } from './changes.tsx';
import { Providers } from './providers.tsx';
import { SettingRow } from './setting-row.tsx';

export function PlatformPage() {
  const { value, failure, put } = useReading<OperatorSettings | 'not-master'>(readSettings);
  if (value === 'not-master')
    return (
      <>
        <PageHead title="Platform" />
        <Empty icon="shield" title="Only the master account can open this page">
          The operator names that account on the server, with PLATFORM_MASTER_ACCOUNT.
        </Empty>
      </>
    );
  return (
    <>
      <PageHead title="Platform" up={FLEET}>
        <p class="quiet-text">
          What holds for everybody here. You confirm each change with your passkey, and it takes effect immediately.
          What the files on the server say comes first, and can’t be changed here.
        </p>
      </PageHead>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {value === null ? (
        failure === null && <Skeleton lines={4} label="Loading the settings of the platform" />
      ) : (
        <Sections settings={value} put={put} />
      )}
    </>
  );
}

const FLEET = { href: addressOf({ kind: 'app', appId: 'fleet' }), label: 'Fleet' };

interface SectionsProps {
  readonly settings: OperatorSettings;
  readonly put: (next: OperatorSettings) => void;
}

function Sections({ settings, put }: SectionsProps) {
  return (
    <>
      <section class="block" aria-labelledby="accounts-title">
        <h3 id="accounts-title">Accounts</h3>
        <ul class="rows">
          <SettingRow name="registration" settings={settings} put={put} />
          <SettingRow name="defaultPlan" settings={settings} put={put} />
        </ul>
      </section>
      <Providers settings={settings} put={put} />
      <section class="block" aria-labelledby="ai-limits-title">
        <h3 id="ai-limits-title">What each app may use of AI</h3>
        <ul class="rows">
          <SettingRow name="monthlyTokens" settings={settings} put={put} />
          <SettingRow name="requestsPerMinute" settings={settings} put={put} />
          <SettingRow name="bodyMiB" settings={settings} put={put} />
          <SettingRow name="currency" settings={settings} put={put} />
        </ul>
      </section>
      <Changes after={settings} />
    </>
  );
}

async function readSettings(): Promise<OperatorSettings | 'not-master'> {
  try {
    return await call('operator.settings.read');
  } catch (error) {
    if (error instanceof ApiError && error.code === 'master_account_only') return 'not-master';
    throw error;
  }
}
