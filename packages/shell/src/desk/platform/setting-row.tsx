// One setting: what it is, who says so, and the form that changes it.
import type { OperatorSettings, SettingName } from '@platform/contract';
import { subjectOfSetting } from '@platform/contract/setting-subjects';
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Button, Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { useKeptFocus } from '../../design/keep-focus.ts';
import { aboutSetting, SETTING_WORDS, valueInWords } from './setting-words.ts';
import { useConfirmed } from './use-confirmed.ts';

interface SettingRowProps {
  readonly name: SettingName;
  readonly settings: OperatorSettings;
  readonly put: (next: OperatorSettings) => void;
}

export function SettingRow({ name, settings, put }: SettingRowProps) {
  const { icon, label, file } = SETTING_WORDS[name];
  const { source } = settings[name];
  const isEditing = useSignal(false);
  const row = useKeptFocus<HTMLLIElement>(isEditing.value);
  return (
    <li class="row stacked setting-row" ref={row}>
      <div class="row-main">
        <span class="row-icon">
          <Icon name={icon} />
        </span>
        <span class="row-text">
          <span class="row-title">
            {label}
            {source === 'file' && <span class="tag">Set on the server</span>}
            {source === 'default' && <span class="tag">Default</span>}
          </span>
          <span class="row-about">{aboutSetting(name, settings)}</span>
          {source === 'file' && <span class="row-about">{file} says so there. It can’t be changed here.</span>}
        </span>
        {source !== 'file' && !isEditing.value && (
          <Button icon="pencil" onClick={() => (isEditing.value = true)}>
            Change<span class="only-read"> {label}</span>
          </Button>
        )}
      </div>
      {isEditing.value && (
        <SettingForm
          name={name}
          settings={settings}
          onChanged={(next) => {
            put(next);
            isEditing.value = false;
          }}
          onCancel={() => (isEditing.value = false)}
        />
      )}
    </li>
  );
}

interface SettingFormProps {
  readonly name: SettingName;
  readonly settings: OperatorSettings;
  readonly onChanged: (next: OperatorSettings) => void;
  readonly onCancel: () => void;
}

function SettingForm({ name, settings, onChanged, onCancel }: SettingFormProps) {
  const { label, choices, typed } = SETTING_WORDS[name];
  const { value: current, source } = settings[name];
  const text = useSignal(typeof current === 'number' ? current.toLocaleString('en') : current);
  const problem = useSignal<string | null>(null);
  const { busy, failure, run } = useConfirmed();
  const id = useId();

  async function change(value: string | number | null): Promise<void> {
    const next = await run('operator.setting.change', subjectOfSetting(name, value), (confirmation) =>
      call('operator.settings.change', { params: { setting: name }, body: { value, confirmation } }),
    );
    if (next !== null) onChanged(next);
  }

  function save(): void {
    const value = typed === undefined ? text.value : typed.read(text.value);
    problem.value = value === null ? (typed?.help ?? null) : null;
    if (value === null) document.getElementById(id)?.focus();
    else void change(value);
  }

  return (
    <form
      class="limit-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
    >
      {choices === undefined ? (
        <div>
          <label for={id}>{label}</label>
          <input
            id={id}
            type="text"
            autocomplete="off"
            spellcheck={false}
            maxLength={24}
            value={text.value}
            aria-invalid={problem.value !== null}
            aria-describedby={`${id}-help`}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          <p id={`${id}-help`} class={`field-help${problem.value === null ? '' : ' wrong'}`} role="status">
            {problem.value ?? typed?.help}
          </p>
        </div>
      ) : (
        <fieldset class="choices">
          <legend class="only-read">{label}</legend>
          {choices.map(({ value, label: choice, about }) => (
            <label key={value} class="choice">
              <input type="radio" name={id} checked={text.value === value} onChange={() => (text.value = value)} />
              <span>
                <strong>{choice}</strong>
                <span class="row-about">{about}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {failure !== null && <Note tone={failure.tone}>{failure.text}</Note>}
      <div class="buttons">
        <Button kind="primary" icon="key" busy={busy} disabled={isSame(text.value, name, settings)} onClick={save}>
          Confirm with your passkey
        </Button>
        {source === 'fleet' && (
          <Button disabled={busy} onClick={() => void change(null)}>
            Back to the default
          </Button>
        )}
        <Button kind="quiet" disabled={busy} onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/** What is so already needs no passkey; the default may be said all the same, so that it stays. */
function isSame(text: string, name: SettingName, settings: OperatorSettings): boolean {
  const { value, source } = settings[name];
  const read = SETTING_WORDS[name].typed?.read(text) ?? text;
  return source === 'fleet' && valueInWords(name, read) === valueInWords(name, value);
}
