// One secret slot of an app: where it leads, in large letters, and which secret may go there. In the review of an
// installation, and in the settings of the app.
import { useId } from 'preact/hooks';
import { OutsideAddress } from '../../design/outside-address.tsx';
import { type Draft, NEW, nameOf } from './draft.ts';

export interface ShownSlot {
  readonly name: string;
  readonly origin: string;
  readonly pathPrefix: string;
  readonly methods: readonly string[];
}

export function SlotPlace({ slot }: { readonly slot: ShownSlot }) {
  const writes = slot.methods.some((method) => method !== 'GET' && method !== 'HEAD');
  return (
    <>
      <OutsideAddress resource={slot.origin} />
      <p class="quiet-text">
        {slot.pathPrefix === '/' ? 'Everything there' : `Only below ${slot.pathPrefix}`}, for slot “{slot.name}”:{' '}
        {writes ? 'reads and changes' : 'reads only'} ({slot.methods.join(', ')})
      </p>
    </>
  );
}

interface SlotChoiceProps {
  readonly slot: ShownSlot;
  readonly secrets: readonly string[];
  readonly draft: Draft;
  readonly disabled?: boolean;
  readonly onChange: (draft: Draft) => void;
}

export function SlotChoice({ slot, secrets, draft, disabled = false, onChange }: SlotChoiceProps) {
  const id = useId();
  return (
    <div class="slot-choice">
      <label for={`${id}-secret`}>Which secret may go to {new URL(slot.origin).host}?</label>
      <select
        id={`${id}-secret`}
        value={draft.secret}
        disabled={disabled}
        onChange={(event) => onChange({ ...draft, secret: event.currentTarget.value })}
      >
        <option value="">None for now</option>
        {secrets.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        <option value={NEW}>Add a secret …</option>
      </select>
      {draft.secret === NEW && (
        <NewSecretFields
          name={draft.newName}
          value={draft.newValue}
          disabled={disabled}
          onChange={(name, value) => onChange({ ...draft, newName: name, newValue: value })}
        />
      )}
      {draft.secret !== '' && <PlaceFields draft={draft} disabled={disabled} onChange={onChange} />}
    </div>
  );
}

interface NewSecretProps {
  readonly name: string;
  readonly value: string;
  readonly disabled?: boolean;
  readonly onChange: (name: string, value: string) => void;
}

export function NewSecretFields({ name, value, disabled = false, onChange }: NewSecretProps) {
  const id = useId();
  return (
    <>
      <label for={`${id}-name`}>Name</label>
      <input
        id={`${id}-name`}
        type="text"
        maxLength={64}
        autoComplete="off"
        spellcheck={false}
        value={name}
        disabled={disabled}
        aria-describedby={`${id}-becomes`}
        onInput={(event) => onChange(event.currentTarget.value, value)}
      />
      <p id={`${id}-becomes`} class="field-help" role="status">
        {nameOf(name) === name.trim() || nameOf(name) === ''
          ? 'Small letters, digits and hyphens.'
          : `It will be called “${nameOf(name)}”.`}
      </p>
      <SecretValue value={value} disabled={disabled} onChange={(next) => onChange(name, next)} />
    </>
  );
}

interface SecretValueProps {
  readonly value: string;
  readonly disabled?: boolean;
  readonly onChange: (value: string) => void;
}

export function SecretValue({ value, disabled = false, onChange }: SecretValueProps) {
  const id = useId();
  return (
    <>
      <label for={id}>Key or token</label>
      <input
        id={id}
        type="password"
        maxLength={8_192}
        autoComplete="off"
        aria-describedby={`${id}-help`}
        value={value}
        disabled={disabled}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p id={`${id}-help`} class="field-help">
        The platform keeps it encrypted. Nobody can read it back, and no app sees it.
      </p>
    </>
  );
}

function PlaceFields({
  draft,
  disabled,
  onChange,
}: Pick<SlotChoiceProps, 'draft' | 'onChange'> & { disabled: boolean }) {
  const id = useId();
  return (
    <details class="slot-place" open={draft.place !== 'bearer'}>
      <summary>How it is sent</summary>
      <div class="slot-choice">
        <label for={`${id}-place`}>Sent as</label>
        <select
          id={`${id}-place`}
          value={draft.place}
          disabled={disabled}
          onChange={(event) => {
            const place = event.currentTarget.value;
            if (place === 'bearer' || place === 'header' || place === 'query') onChange({ ...draft, place });
          }}
        >
          <option value="bearer">Authorization: Bearer … (most services)</option>
          <option value="header">A header of its own</option>
          <option value="query">A query parameter</option>
        </select>
        {draft.place !== 'bearer' && (
          <>
            <label for={`${id}-name`}>{draft.place === 'header' ? 'Header' : 'Parameter'}</label>
            <input
              id={`${id}-name`}
              type="text"
              maxLength={64}
              autoComplete="off"
              spellcheck={false}
              placeholder={draft.place === 'header' ? 'X-Api-Key' : 'api_key'}
              value={draft.placeName}
              disabled={disabled}
              onInput={(event) => onChange({ ...draft, placeName: event.currentTarget.value })}
            />
          </>
        )}
      </div>
    </details>
  );
}
