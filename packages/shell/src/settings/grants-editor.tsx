// The grants of an installed app: what it asked for, what it has, and changing that within what it asked for.
import type { PermissionsView } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call } from '../api/client.ts';
import { grantsChanged } from '../bridge-host.ts';
import { Button, Note, Skeleton } from '../design/controls.tsx';
import { type Choice, grantsOf, presentChoice, proposedChoice, sameChoice } from '../prompts/narrowing.ts';
import { PermissionList } from '../prompts/permission-list.tsx';
import { NarrowerResource } from './narrower-resource.tsx';
import { useAction, useReading } from './reading.ts';

export function GrantsEditor({ appId, name }: { readonly appId: string; readonly name: string }) {
  const reading = useReading(() => call('apps.permissions.read', { params: { appId } }));
  if (reading.failure !== null && reading.value === null) {
    return (
      <>
        <Note tone="danger">{reading.failure}</Note>
        <Button icon="refresh" onClick={() => void reading.again()}>
          Try again
        </Button>
      </>
    );
  }
  if (reading.value === null) return <Skeleton lines={4} label="Loading permissions" />;
  if (reading.value.requested.length === 0) return <p>{name} requests no permissions.</p>;
  return <Editor key={reading.value.revision} appId={appId} view={reading.value} onChanged={reading.put} />;
}

interface EditorProps {
  readonly appId: string;
  readonly view: PermissionsView;
  readonly onChanged: (view: PermissionsView) => void;
}

function Editor({ appId, view, onChanged }: EditorProps) {
  const present = presentChoice(view.requested, view.permissions);
  const choice = useSignal<Choice>(present);
  const { busy, failure, run } = useAction();
  const proposed = proposedChoice(view.requested);
  const changed = !sameChoice(choice.value, present);

  async function save(): Promise<void> {
    const body = {
      permissions: grantsOf(choice.value).map(({ id, resources }) => ({ id, resources: [...resources] })),
    };
    await run(async () => {
      const next = await call('apps.permissions.replace', { params: { appId }, body });
      grantsChanged(appId, next.permissions);
      onChanged(next);
    });
  }

  return (
    <>
      <PermissionList
        requested={view.requested}
        choice={choice.value}
        disabled={busy}
        onChange={(next) => (choice.value = next)}
      />
      <NarrowerResource requested={view.requested} choice={choice.value} onChange={(next) => (choice.value = next)} />
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <p class="quiet-text" role="status">
        {changed ? 'Not saved yet.' : 'Saved. Changes apply immediately.'}
      </p>
      <div class="buttons">
        {changed && (
          <>
            <Button kind="primary" busy={busy} onClick={() => void save()}>
              {busy ? 'Saving …' : 'Save'}
            </Button>
            <Button kind="quiet" disabled={busy} onClick={() => (choice.value = present)}>
              Undo changes
            </Button>
          </>
        )}
        {!sameChoice(choice.value, proposed) && (
          <Button kind="quiet" disabled={busy} onClick={() => (choice.value = proposed)}>
            Reset to what the app requested
          </Button>
        )}
      </div>
    </>
  );
}
