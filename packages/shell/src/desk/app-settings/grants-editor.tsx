// The grants of an installed app: what it asked for, what it has, and changing that within what it asked for.
import { type Grant, opensSomething, type PermissionsView } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { resourcesOf } from '../../apps/bridge/grants.ts';
import { grantsChanged } from '../../apps/frames/app-context.ts';
import { closeApp } from '../../apps/frames/open-apps.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { type Choice, grantsOf, presentChoice, proposedChoice, sameChoice } from '../prompts/narrowing.ts';
import { PermissionList } from '../prompts/permission-list.tsx';
import { asksForNothing } from '../prompts/resource-words.ts';
import { BackendLimits } from './backend-limits.tsx';
import { NarrowerResource } from './narrower-resource.tsx';

interface GrantsEditorProps {
  readonly appId: string;
  readonly name: string;
  /** The installed one. */
  readonly version: string;
}

export function GrantsEditor({ appId, name, version }: GrantsEditorProps) {
  const reading = useReading(() => call('apps.permissions.read', { params: { appId } }));
  const saved = useSignal(false);
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
  // What opens nothing in this version of the platform is not offered.
  const view = { ...reading.value, requested: reading.value.requested.filter(({ id }) => opensSomething(id)) };
  const { requested, resources, revision } = view;
  return (
    <>
      {requested.length > 0 && (
        <Editor
          key={revision}
          appId={appId}
          view={view}
          saved={saved.value}
          onChanged={(changed) => {
            saved.value = true;
            reading.put(changed);
          }}
        />
      )}
      {asksForNothing(requested, resources?.requested ?? null) && <p>{name} requests no permissions.</p>}
      {resources !== null && (
        <BackendLimits appId={appId} name={name} version={version} resources={resources} onChanged={reading.again} />
      )}
    </>
  );
}

function lostAnAddress(before: readonly Grant[], after: readonly Grant[]): boolean {
  const left = resourcesOf(after, 'network.connect');
  return resourcesOf(before, 'network.connect').some((address) => !left.includes(address));
}

interface EditorProps {
  readonly appId: string;
  readonly view: PermissionsView;
  /** The view is what the person saved here. */
  readonly saved: boolean;
  readonly onChanged: (view: PermissionsView) => void;
}

function Editor({ appId, view, saved, onChanged }: EditorProps) {
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
      // An open page keeps the policy it was loaded with.
      if (lostAnAddress(view.permissions, next.permissions)) closeApp(appId);
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
        {changed ? 'Not saved yet.' : saved && 'Saved. Changes apply immediately.'}
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
