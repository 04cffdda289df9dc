// The form of one agent: its name, what the person wants of it, its tools, its model and its share of the budget.
import type { AgentProfile, AgentProfileBody } from '@platform/sdk/browser';
import { useId, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import type { Described } from './agent-api.ts';
import { MAIN } from './profile-words.ts';
import { ToolWords } from './tool-words.tsx';
import { type KnownTools, WEB_SEARCH } from './words.ts';

interface ProfileFormProps {
  /** `undefined`: a new one. */
  readonly profile: AgentProfile | undefined;
  readonly described: Described | undefined;
  readonly tools: KnownTools;
  readonly onSave: (body: AgentProfileBody) => Promise<void>;
  readonly onCancel: () => void;
}

const nameOfModel = ({ provider, id }: { readonly provider: string; readonly id: string }) => `${provider}:${id}`;

export function ProfileForm({ profile, described, tools, onSave, onCancel }: ProfileFormProps) {
  const ids = useId();
  const [chosen, setChosen] = useState<readonly string[] | null>(profile?.tools ?? null);
  const [problem, setProblem] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  // One that proposes may always ask what became of it.
  const offered = (described?.tools ?? [])
    .map(({ tool }) => tool)
    .filter((tool) => tool !== WEB_SEARCH && !tool.startsWith('platform-proposals.'));
  // One that is not offered at the moment stays chosen until its person takes it away.
  const listed = [...new Set([...offered, ...(profile?.tools ?? [])])];
  const models = described?.models ?? [];
  const kept = profile?.model ?? null;
  const listedModels =
    kept === null || models.some((one) => nameOfModel(one) === nameOfModel(kept)) ? models : [kept, ...models];

  async function save(form: FormData): Promise<void> {
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const tokens = text('tokens');
    const model = listedModels.find((one) => nameOfModel(one) === text('model')) ?? null;
    setProblem(undefined);
    setSaving(true);
    try {
      await onSave({
        name: text('name'),
        instructions: text('instructions'),
        tools: chosen === null ? null : [...chosen],
        webSearch: form.get('webSearch') !== null,
        model: model === null ? null : { provider: model.provider, id: model.id },
        monthlyTokens: tokens === '' ? null : Number(tokens),
      });
    } catch (error) {
      setProblem(messageOf(error));
    }
    setSaving(false);
  }

  return (
    <form
      class="card profile-form stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save(new FormData(event.currentTarget));
      }}
    >
      <h3>{profile === undefined ? 'New agent' : 'Change this agent'}</h3>
      <label>
        <span>Name</span>
        <input
          name="name"
          maxLength={60}
          defaultValue={profile?.name ?? ''}
          required={profile?.id !== MAIN}
          placeholder={profile?.id === MAIN ? 'Personal Agent' : 'Kitchen help'}
        />
      </label>
      <label>
        <span>What you want of it</span>
        <textarea
          name="instructions"
          rows={4}
          defaultValue={profile?.instructions ?? ''}
          placeholder="Answer briefly. Suggest meals for two, without nuts."
          dir="auto"
        />
      </label>
      <fieldset>
        <legend>Tools</legend>
        <label class="row">
          <input type="radio" name="which" checked={chosen === null} onChange={() => setChosen(null)} />
          <span>All that Personal Agent may use</span>
        </label>
        <label class="row">
          <input type="radio" name="which" checked={chosen !== null} onChange={() => setChosen(chosen ?? [])} />
          <span>Only these</span>
        </label>
        {chosen !== null && (
          <ul class="plain tools" aria-label="Tools of this agent">
            {listed.length === 0 && <li class="quiet">None of your apps offers a tool.</li>}
            {listed.map((tool) => (
              <li key={tool}>
                <label class="row">
                  <input
                    type="checkbox"
                    checked={chosen.includes(tool)}
                    onChange={({ currentTarget: { checked } }) =>
                      setChosen(checked ? [...chosen, tool] : chosen.filter((one) => one !== tool))
                    }
                  />
                  <span>
                    <ToolWords tool={tool} tools={tools} />
                  </span>
                </label>
              </li>
            ))}
          </ul>
        )}
        {described?.webSearch !== false && (
          <label class="row">
            <input type="checkbox" name="webSearch" defaultChecked={profile?.webSearch ?? true} />
            <span>It may ask to search the web</span>
          </label>
        )}
      </fieldset>
      <label>
        <span>Model</span>
        <select name="model" defaultValue={kept === null ? '' : nameOfModel(kept)}>
          <option value="">
            {described?.model === null || described === undefined
              ? 'The first that there is'
              : `The first that there is (${described.model.id})`}
          </option>
          {listedModels.map((one) => (
            <option
              key={nameOfModel(one)}
              value={nameOfModel(one)}
              selected={kept !== null && nameOfModel(one) === nameOfModel(kept)}
            >
              {one.id}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Tokens a month, at most</span>
        <input
          name="tokens"
          type="number"
          min={0}
          max={1e12}
          step={1}
          defaultValue={profile?.monthlyTokens ?? ''}
          placeholder="As many as there are"
          aria-describedby={`${ids}-tokens`}
        />
      </label>
      <p id={`${ids}-tokens`} class="quiet small">
        A share of what Personal Agent has. The answer that passes it is its last one of the month.
      </p>
      <Failure text={problem} />
      <div class="row">
        <button type="submit" class="primary" disabled={isSaving}>
          Save
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
