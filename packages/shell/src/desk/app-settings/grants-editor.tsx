// The grants of an installed app: what it asked for, what it has, and changing that within what it asked for. Each change
// applies when it is made, and can be undone.
import type { Grant, PermissionId, PermissionsView } from '@platform/contract';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { resourcesOf } from '../../apps/bridge/grants.ts';
import { grantsChanged } from '../../apps/frames/app-context.ts';
import { closeApp } from '../../apps/frames/open-apps.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { grantsOf, presentChoice, proposedChoice, sameChoice } from '../prompts/narrowing.ts';
import { PermissionList } from '../prompts/permission-list.tsx';
import { presentRating } from '../prompts/rated.ts';
import { RatingSummary } from '../prompts/rating-summary.tsx';
import { asksForNothing } from '../prompts/resource-words.ts';
import { useAppliedChoice } from './applied-choice.ts';
import { BackendLimits } from './backend-limits.tsx';
import { NarrowerResource } from './narrower-resource.tsx';
import { OpenedToday } from './opened-today.tsx';

interface GrantsEditorProps {
  readonly appId: string;
  readonly name: string;
  /** The installed one. */
  readonly version: string;
}

/** Of some permissions alone, on the page that is about them. */
export function SomeGrants({ appId, only }: { readonly appId: string; readonly only: (id: PermissionId) => boolean }) {
  const { value, failure, put } = useReading(() => call('apps.permissions.read', { params: { appId } }));
  if (failure !== null && value === null) return <Note tone="danger">{failure}</Note>;
  if (value === null) return <Skeleton lines={2} label="Loading permissions" />;
  return <Editor appId={appId} view={value} only={only} onChanged={put} />;
}

export function GrantsEditor({ appId, name, version }: GrantsEditorProps) {
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
  const view = reading.value;
  const { requested, resources } = view;
  return (
    <>
      {requested.length > 0 ? (
        <Editor appId={appId} view={view} onChanged={reading.put} />
      ) : (
        <RatingSummary rated={presentRating(view, [])} />
      )}
      {requested.length > 0 && <OpenedToday key={view.revision} appId={appId} />}
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
  /** Default: all. */
  readonly only?: (id: PermissionId) => boolean;
  readonly onChanged: (view: PermissionsView) => void;
}

function Editor({ appId, view, only, onChanged }: EditorProps) {
  const present = presentChoice(view.requested, view.permissions);
  const { choice, isSaving, failure, hasSaved, canUndo, change, undo } = useAppliedChoice(present, async (wanted) => {
    const body = { permissions: grantsOf(wanted).map(({ id, resources }) => ({ id, resources: [...resources] })) };
    const next = await call('apps.permissions.replace', { params: { appId }, body });
    grantsChanged(appId, next.permissions);
    // An open page keeps the policy it was loaded with.
    if (lostAnAddress(grantsOf(present), next.permissions)) closeApp(appId);
    onChanged(next);
  });
  const proposed = proposedChoice(view.requested);
  const requested = only === undefined ? view.requested : view.requested.filter(({ id }) => only(id));
  return (
    <>
      {only === undefined && <RatingSummary rated={presentRating(view, grantsOf(choice))} />}
      <PermissionList requested={requested} choice={choice} onChange={change} />
      <NarrowerResource appId={appId} requested={requested} choice={choice} onChange={change} />
      {failure !== null && <Note tone="danger">{failure} Your last change was not saved.</Note>}
      <p class="quiet-text" role="status">
        {isSaving ? 'Saving …' : hasSaved ? 'Saved. Changes apply immediately.' : 'Changes apply immediately.'}
      </p>
      <div class="buttons">
        {canUndo && (
          <Button icon="back" onClick={undo}>
            Undo
          </Button>
        )}
        {only === undefined && !sameChoice(choice, proposed) && (
          <Button onClick={() => change(proposed)}>Reset to what the app requested</Button>
        )}
      </div>
    </>
  );
}
