// The secret slots of one app: where each leads, which secret it uses, and changing that.
import type { SecretBinding } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { call, ONE_PAGE } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { useKeptFocus } from '../../design/keep-focus.ts';
import { useDraft } from '../../session/drafts.ts';
import { type Draft, draftOf, missingIn } from './draft.ts';
import { saveDraft } from './save-draft.ts';
import { SlotChoice, SlotPlace } from './slot-choice.tsx';

export function AppSecrets({ appId, name }: { readonly appId: string; readonly name: string }) {
  const reading = useReading(async () => {
    const [bindings, secrets] = await Promise.all([
      call('apps.secretBindings.list', { params: { appId } }),
      call('secrets.list', ONE_PAGE),
    ]);
    return { bindings: bindings.items, secrets: secrets.items.map((secret) => secret.name) };
  });
  const { value } = reading;
  // Most apps have none: nothing is shown before it is known.
  if (value === null && reading.failure === null) return <Skeleton lines={0} label="Loading secrets" />;
  if (value !== null && value.bindings.length === 0) return null;
  return (
    <section class="block" aria-labelledby="secrets-title">
      <h3 id="secrets-title">Secrets</h3>
      <p class="quiet-text">{name} can call these services with a secret of yours. It never sees the secret itself.</p>
      {reading.failure !== null && <Note tone="danger">{reading.failure}</Note>}
      {value !== null && (
        <ul class="rows">
          {value.bindings.map((binding) => (
            <SlotRow key={binding.slot} appId={appId} binding={binding} secrets={value.secrets} again={reading.again} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface SlotRowProps {
  readonly appId: string;
  readonly binding: SecretBinding;
  readonly secrets: readonly string[];
  readonly again: () => Promise<void>;
}

function SlotRow({ appId, binding, secrets, again }: SlotRowProps) {
  const { busy, failure, run } = useAction();
  const draft = useDraft<Draft>(`slot ${appId} ${binding.slot}`, draftOf(binding.secret, binding.inject), {
    secret: true,
  });
  const changing = useSignal(binding.state === 'stale' || draft.isChanged);
  const problem = useSignal<string | null>(null);
  const row = useKeptFocus<HTMLLIElement>(`${changing.value} ${binding.state}`);
  const slot = { ...binding, name: binding.slot };
  const params = { appId, slot: binding.slot };

  async function save(): Promise<void> {
    problem.value = missingIn(draft.value, secrets);
    if (problem.value !== null) return;
    const work = () =>
      draft.value.secret === '' ? call('apps.secretBindings.unbind', { params }) : saveDraft(appId, slot, draft.value);
    await change(work);
  }

  async function change(work: () => Promise<unknown>): Promise<void> {
    if (!(await run(work))) return;
    draft.drop();
    await again();
    changing.value = false;
  }

  return (
    <li class="row stacked slot" ref={row}>
      <SlotPlace slot={slot} />
      {binding.state === 'stale' && <WhatChanged binding={binding} />}
      {binding.state === 'unbound' && !changing.value && <p>No secret chosen. The platform refuses calls to it.</p>}
      {binding.state === 'bound' && !changing.value && (
        <p>
          Uses your secret <strong>{binding.secret}</strong>.
        </p>
      )}
      {changing.value && (
        <SlotChoice
          slot={slot}
          secrets={secrets}
          draft={draft.value}
          disabled={busy}
          onChange={(next) => {
            problem.value = null;
            draft.put(next);
          }}
        />
      )}
      {(problem.value ?? failure) !== null && <Note tone="danger">{problem.value ?? failure}</Note>}
      <div class="buttons">
        {changing.value ? (
          <>
            <Button kind="primary" busy={busy} onClick={() => void save()}>
              {binding.state === 'stale' ? 'Allow this' : 'Save'}
            </Button>
            {binding.state !== 'stale' && (
              <Button
                onClick={() => {
                  draft.drop();
                  changing.value = false;
                }}
              >
                Cancel
              </Button>
            )}
          </>
        ) : (
          <Button icon="key" onClick={() => (changing.value = true)}>
            {binding.state === 'bound' ? 'Change' : 'Choose a secret'}
          </Button>
        )}
        {binding.secret !== null && (
          <Button
            icon="trash"
            busy={busy}
            onClick={() => void change(() => call('apps.secretBindings.unbind', { params }))}
          >
            Stop using it
          </Button>
        )}
      </div>
    </li>
  );
}

/** What the installed version declares otherwise than the one that was reviewed. */
function WhatChanged({
  binding: { former, origin, pathPrefix, methods, secret },
}: {
  readonly binding: SecretBinding;
}) {
  if (former === undefined) return null;
  const added = methods.filter((method) => !former.methods.includes(method));
  const dropped = former.methods.filter((method) => !methods.includes(method));
  return (
    <Note tone="warning">
      <p>
        An update changed this, so your secret {secret} is not sent any more. Check the changes and allow them, or stop
        using it.
      </p>
      <ul>
        {former.origin !== origin && (
          <li>
            Service: {former.origin} before, now <strong>{origin}</strong>
          </li>
        )}
        {former.pathPrefix !== pathPrefix && (
          <li>
            Path: {former.pathPrefix} before, now <strong>{pathPrefix}</strong>
          </li>
        )}
        {added.length > 0 && (
          <li>
            It may also use <strong>{added.join(', ')}</strong>
          </li>
        )}
        {dropped.length > 0 && <li>It no longer uses {dropped.join(', ')}</li>}
      </ul>
    </Note>
  );
}
