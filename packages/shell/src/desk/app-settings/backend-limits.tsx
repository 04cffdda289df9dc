// What the backend of an app may use of its machine, and granting what the installed version asks for beyond that: more, or
// a backend at all.
import { type PermissionsView, resourcesBeyond } from '@platform/contract';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { closeApp } from '../../apps/frames/open-apps.ts';
import { refreshInstalledApps } from '../../apps/installed-apps.ts';
import { Button, Note } from '../../design/controls.tsx';
import { ResourceList } from '../prompts/resource-list.tsx';

interface BackendLimitsProps {
  readonly appId: string;
  readonly name: string;
  readonly version: string;
  readonly resources: NonNullable<PermissionsView['resources']>;
  readonly onChanged: () => Promise<void>;
}

export function BackendLimits({ appId, name, version, resources, onChanged }: BackendLimitsProps) {
  const { granted, requested } = resources;
  const { busy, failure, run } = useAction();

  async function accept(): Promise<void> {
    await run(async () => {
      await call('apps.upgrade', { params: { appId }, body: { version, acceptResources: true } });
      if (granted === null) {
        // An open page was launched without a way to the backend.
        closeApp(appId);
        await refreshInstalledApps();
      }
      await onChanged();
    });
  }

  return (
    <>
      <h4>What its backend may use</h4>
      {granted === null ? (
        <>
          <Note tone="warning">
            An update of {name} brought a backend, which stays off until you allow it. It would use:
          </Note>
          <ResourceList resources={requested} />
        </>
      ) : (
        <ResourceList resources={granted} />
      )}
      {granted !== null && resourcesBeyond(granted, requested).length > 0 && (
        <>
          <Note tone="warning">This version asks for more. Until you allow it, {name} runs with what it has.</Note>
          <ResourceList resources={requested} beyond={granted} />
        </>
      )}
      {(granted === null || resourcesBeyond(granted, requested).length > 0) && (
        <div class="buttons">
          <Button busy={busy} onClick={() => void accept()}>
            {busy ? 'Allowing …' : granted === null ? 'Allow the backend' : 'Allow what it asks for'}
          </Button>
        </div>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </>
  );
}
