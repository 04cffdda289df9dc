// One installed app in Settings: what it is, how its backend does, and what can be done with it.
import type { InstalledApp, WorkloadStatus } from '@platform/sdk/browser';
import { AppIcon } from '../../shared/app-icon.tsx';

interface AppRowProps {
  readonly item: InstalledApp;
  /** Absent for an app without a backend. */
  readonly status: WorkloadStatus | undefined;
  readonly busy: boolean;
  readonly onPermissions: () => void;
  readonly onLog: () => void;
  readonly onStart: () => void;
  readonly onStop: () => void;
  readonly onUpdate: (version: string) => void;
  readonly onRemove: () => void;
}

const STATES = {
  stopped: { text: 'Backend stopped', tone: '' },
  starting: { text: 'Backend starting', tone: 'warn' },
  running: { text: 'Backend running', tone: 'good' },
  failed: { text: 'Backend failed', tone: 'danger' },
} as const;

export function AppRow({ item, status, busy, ...on }: AppRowProps) {
  const { name, upgrade } = item;
  const isUp = status?.state === 'running' || status?.state === 'starting';
  return (
    <article class="card row" aria-label={name}>
      <AppIcon name={name} icon={item.icon} />
      <div class="grow">
        <h3 class="name">{name}</h3>
        <p class="quiet small">
          {versionLine(item)}{' '}
          {status !== undefined && (
            <span class={`badge ${STATES[status.state].tone}`}>{STATES[status.state].text}</span>
          )}
        </p>
        {item.hasUnreviewedWorkload && (
          <p class="small">An update brought a backend. It stays off until you allow it: press Permissions.</p>
        )}
        {status?.reason !== undefined && <p class="small">{status.reason}</p>}
      </div>
      <div class="row">
        {upgrade !== null && (
          <button
            type="button"
            class="primary"
            disabled={busy}
            onClick={() => on.onUpdate(upgrade)}
            aria-label={`Update ${name}`}
          >
            Update
          </button>
        )}
        <button type="button" onClick={on.onPermissions} aria-label={`Permissions of ${name}`}>
          Permissions
        </button>
        {item.hasWorkload && (
          <>
            <button type="button" onClick={on.onLog} aria-label={`Log of ${name}`}>
              Log
            </button>
            <button
              type="button"
              disabled={busy}
              onClick={isUp ? on.onStop : on.onStart}
              aria-label={`${isUp ? 'Stop' : 'Start'} the backend of ${name}`}
            >
              {isUp ? 'Stop' : 'Start'}
            </button>
          </>
        )}
        <button type="button" class="danger" disabled={busy} onClick={on.onRemove} aria-label={`Remove ${name}`}>
          Remove
        </button>
      </div>
    </article>
  );
}

/** The digits after `+` tell builds of the platform's own apps apart; a person needs the version only. */
function versionLine({ version, publisher, system }: InstalledApp): string {
  return system ? `Version ${version.split('+', 1)[0]}` : `Version ${version} · by ${publisher}`;
}
