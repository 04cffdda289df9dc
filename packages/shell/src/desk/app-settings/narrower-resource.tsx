// Narrowing a permission that covers everything, or a whole group, to the few things a person names.
import type { RequestedGrant } from '@platform/contract';
import { permissions } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { covers } from '../../apps/bridge/grants.ts';
import { Button } from '../../design/controls.tsx';
import { RESOURCE_LABELS } from '../../design/permission-words.ts';
import { useDraft } from '../../session/drafts.ts';
import { type Choice, withResource } from '../prompts/narrowing.ts';

interface NarrowerResourceProps {
  readonly appId: string;
  readonly requested: readonly RequestedGrant[];
  readonly choice: Choice;
  readonly onChange: (choice: Choice) => void;
}

/** Only permissions whose resources name something besides `*` can be narrowed to a part. */
function canBeNarrowed({ id, resources }: RequestedGrant): boolean {
  const kind: string = permissions[id].resources;
  return kind !== '`*`' && kind !== '`self`' && resources.some((resource) => resource.endsWith('*'));
}

export function NarrowerResource({ appId, requested, choice, onChange }: NarrowerResourceProps) {
  const candidates = requested.filter(canBeNarrowed);
  const chosenId = useSignal(candidates[0]?.id);
  const text = useDraft(`narrower ${appId}`, '');
  const problem = useSignal<string | null>(null);
  const request = candidates.find(({ id }) => id === chosenId.value);
  if (request === undefined) return null;

  /** The named part takes the place of the wildcard that covers it. */
  function add(grant: RequestedGrant): void {
    const part = text.value.trim();
    if (!/^[^*\s]{1,255}\*?$/.test(part) || !covers([grant], grant.id, part)) {
      problem.value =
        'Enter one resource within what the app requested, without spaces. A * is allowed only at the end.';
      return;
    }
    let next = choice;
    for (const resource of choice.get(grant.id) ?? []) {
      if (resource.endsWith('*') && covers([{ id: grant.id, resources: [resource] }], grant.id, part)) {
        next = withResource(next, grant.id, resource, false);
      }
    }
    onChange(withResource(next, grant.id, part, true));
    text.drop();
    problem.value = null;
  }

  return (
    <details class="narrower" open={text.isChanged || undefined}>
      <summary>Restrict a permission</summary>
      <div class="narrower-fields">
        <div>
          <label for="narrower-permission">Permission</label>
          <select id="narrower-permission" value={request.id} onChange={(event) => selectId(event.currentTarget.value)}>
            {candidates.map(({ id }) => (
              <option key={id} value={id}>
                {permissions[id].plain}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="narrower-resource">{RESOURCE_LABELS[permissions[request.id].resources]}</label>
          <input
            id="narrower-resource"
            type="text"
            value={text.value}
            maxLength={256}
            placeholder={request.resources.find((resource) => resource !== '*' && resource.endsWith('*'))}
            spellcheck={false}
            autocapitalize="none"
            aria-invalid={problem.value !== null}
            aria-describedby="narrower-problem"
            onInput={(event) => text.put(event.currentTarget.value)}
          />
        </div>
        <Button icon="plus" onClick={() => add(request)}>
          Limit to this
        </Button>
      </div>
      <p id="narrower-problem" class="field-help wrong" role="alert">
        {problem.value}
      </p>
    </details>
  );

  function selectId(id: string): void {
    chosenId.value = candidates.find((candidate) => candidate.id === id)?.id;
  }
}
