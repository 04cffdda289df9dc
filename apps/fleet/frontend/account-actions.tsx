// What the operator can do to an account. The shell asks before each; a deletion is typed here first.
import type { BridgeParams, ListedAccount } from '@platform/sdk/browser';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useKept } from '../../shared/kept.ts';

export type AccountChange = NonNullable<BridgeParams<'system.changeAccount'>[0]>['change'];

interface ActionsProps {
  readonly account: ListedAccount;
  readonly busy: boolean;
  readonly onChange: (change: AccountChange, done: string) => void;
}

const PLANS = [
  ['plan-default', 'Default'],
  ['plan-free', 'Free'],
  ['plan-paid', 'Paid'],
] as const;

export function AccountActions(props: ActionsProps) {
  const { name, state, master } = props.account;
  const { busy, onChange } = props;
  const [deleting, setDeleting] = useState(false);
  if (deleting)
    return (
      <DeleteForm
        name={name}
        busy={busy}
        onDelete={() => onChange('delete', `${name} is deleted.`)}
        onCancel={() => setDeleting(false)}
      />
    );
  return (
    <>
      <PlanChoice key={`${props.account.plan} ${props.account.ownPlan}`} {...props} />
      {master ? (
        <p class="quiet">
          This is the master account. To suspend or delete it, first make another account the operator, on the server.
        </p>
      ) : (
        <div class="row">
          {state === 'suspended' ? (
            <button type="button" disabled={busy} onClick={() => onChange('resume', `${name} can sign in again.`)}>
              Resume …
            </button>
          ) : (
            <button type="button" disabled={busy} onClick={() => onChange('suspend', `${name} is suspended.`)}>
              Suspend …
            </button>
          )}
          <button type="button" class="danger" disabled={busy} onClick={() => setDeleting(true)}>
            Delete …
          </button>
        </div>
      )}
    </>
  );
}

function PlanChoice({ account: { name, plan, ownPlan }, busy, onChange }: ActionsProps) {
  const current = ownPlan ? (`plan-${plan}` as const) : 'plan-default';
  const [kept, setKept] = useKept<string>('plan', '');
  const chosen = PLANS.find(([value]) => `${name} ${value}` === kept)?.[0] ?? current;
  useEffect(() => {
    if (kept === `${name} ${current}`) setKept('');
  }, [kept, current]);
  const id = useId();
  const words = PLANS.find(([value]) => value === chosen)?.[1].toLowerCase();
  return (
    <div class="row">
      <label for={id}>Plan</label>
      <select id={id} value={chosen} onChange={({ currentTarget: { value } }) => setKept(`${name} ${value}`)}>
        {PLANS.map(([value, label]) => (
          <option key={value} value={value} selected={value === chosen}>
            {label}
          </option>
        ))}
      </select>
      <button
        type="button"
        disabled={busy || chosen === current}
        onClick={() => onChange(chosen, `${name} has the ${words} plan.`)}
      >
        Change plan …
      </button>
    </div>
  );
}

interface DeleteFormProps {
  readonly name: string;
  readonly busy: boolean;
  readonly onDelete: () => void;
  readonly onCancel: () => void;
}

function DeleteForm({ name, busy, onDelete, onCancel }: DeleteFormProps) {
  const [typed, setTyped] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const matches = typed.trim().toLowerCase() === name;
  useEffect(() => {
    field.current?.focus();
    field.current?.form?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (matches && !busy) onDelete();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !busy) onCancel();
      }}
    >
      <p>
        Deletes {name} with its apps, their data, its secrets and notifications, immediately and for good. To end its
        access and keep everything, suspend it.
      </p>
      <label class="field">
        <span>
          Type <strong>{name}</strong> to confirm
        </span>
        <input
          ref={field}
          type="text"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={64}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button type="submit" class="danger" disabled={!matches || busy}>
          Delete {name} …
        </button>
        <button type="button" disabled={busy} onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
