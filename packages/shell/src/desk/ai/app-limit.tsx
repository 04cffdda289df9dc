// What an app used of AI models this month, and the limits its owner sets within the operator's.
import type { AppIntelligence } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { Button, Note } from '../../design/controls.tsx';
import { useKeptFocus } from '../../design/keep-focus.ts';
import { hasDraft, useDraft } from '../../session/drafts.ts';
import { calls, limitsInWords, tokens, wholeNumber } from './ai-words.ts';

const draftKeyOf = (appId: string) => `ai-limit ${appId}`;

interface AppLimitProps {
  readonly appId: string;
  readonly name: string;
  readonly intelligence: AppIntelligence;
  readonly onChanged: (next: AppIntelligence) => void;
}

export function AppLimit({ appId, name, intelligence, onChanged }: AppLimitProps) {
  const { limits, usage } = intelligence;
  const isEditing = useSignal(hasDraft(draftKeyOf(appId)));
  const whole = useKeptFocus<HTMLDivElement>(isEditing.value);
  return (
    <div class="app-limit" ref={whole}>
      <p>
        {usage.tokens.toLocaleString('en')} of {tokens(limits.monthlyTokens)} used this month
        {usage.reserved > 0 && `, ${usage.reserved.toLocaleString('en')} more reserved for calls under way`}
      </p>
      <div class="storage-bar" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(100, (100 * usage.tokens) / Math.max(1, limits.monthlyTokens))}%` }} />
      </div>
      {usage.tokens >= limits.monthlyTokens && (
        <Note tone="warning">The platform refuses further AI calls of {name} until next month.</Note>
      )}
      {isEditing.value ? (
        <LimitForm
          appId={appId}
          name={name}
          intelligence={intelligence}
          onChanged={onChanged}
          onEnd={() => (isEditing.value = false)}
        />
      ) : (
        <>
          <p class="quiet-text">{limitsInWords(intelligence)}</p>
          <div class="buttons">
            <Button icon="pencil" onClick={() => (isEditing.value = true)}>
              Change the limits<span class="only-read"> of {name}</span>
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

const FIELDS = ['monthlyTokens', 'requestsPerMinute'] as const;
type Field = (typeof FIELDS)[number];
type Typed = Readonly<Record<Field, string>>;

const WORDS: Readonly<
  Record<
    Field,
    { readonly label: string; readonly least: number; readonly whole: string; readonly most: (n: number) => string }
  >
> = {
  monthlyTokens: {
    label: 'Tokens a month',
    least: 0,
    whole: 'Enter a whole number of tokens, such as 100,000.',
    most: (amount) => `${tokens(amount)} a month`,
  },
  requestsPerMinute: {
    label: 'Calls a minute',
    least: 1,
    whole: 'Enter a whole number of calls, at least 1.',
    most: (amount) => `${calls(amount)} a minute`,
  },
};

/** Empty fields are the operator's limits, also after the operator changes them. */
function typedOf({ limits, operatorLimits }: AppIntelligence): Typed {
  const own = (field: Field) => (limits[field] < operatorLimits[field] ? limits[field].toLocaleString('en') : '');
  return { monthlyTokens: own('monthlyTokens'), requestsPerMinute: own('requestsPerMinute') };
}

/** @returns `null` where the text is a limit, or empty */
function problemIn(field: Field, text: string, most: number): string | null {
  if (text.trim() === '') return null;
  const amount = wholeNumber(text);
  if (amount === null || amount < WORDS[field].least) return WORDS[field].whole;
  return amount > most ? `The operator allows at most ${WORDS[field].most(most)}. Enter that or less.` : null;
}

interface LimitFormProps extends AppLimitProps {
  readonly onEnd: () => void;
}

function LimitForm({ appId, name, intelligence, onChanged, onEnd }: LimitFormProps) {
  const { operatorLimits } = intelligence;
  const id = useId();
  const typed = useDraft<Typed>(draftKeyOf(appId), typedOf(intelligence));
  const problems = useSignal<Partial<Record<Field, string>>>({});
  const { busy, failure, run } = useAction();

  async function save(texts: Typed): Promise<void> {
    const found = FIELDS.flatMap((field) => {
      const problem = problemIn(field, texts[field], operatorLimits[field]);
      return problem === null ? [] : [[field, problem] as const];
    });
    problems.value = Object.fromEntries(found);
    const [first] = found;
    if (first !== undefined) {
      document.getElementById(`${id}-${first[0]}`)?.focus();
      return;
    }
    const body = {
      monthlyTokens: wholeNumber(texts.monthlyTokens),
      requestsPerMinute: wholeNumber(texts.requestsPerMinute),
    };
    const saved = await run(async () => {
      onChanged(await call('apps.intelligence.limit', { params: { appId }, body }));
    });
    if (!saved) return;
    typed.drop();
    onEnd();
  }

  return (
    <form
      class="limit-form"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !typed.isChanged) onEnd();
      }}
    >
      {FIELDS.map((field) => (
        <div key={field}>
          <label for={`${id}-${field}`}>
            {WORDS[field].label} for {name}
          </label>
          <input
            id={`${id}-${field}`}
            type="text"
            inputMode="numeric"
            autocomplete="off"
            maxLength={24}
            placeholder={operatorLimits[field].toLocaleString('en')}
            value={typed.value[field]}
            aria-invalid={problems.value[field] !== undefined}
            aria-describedby={`${id}-${field}-help`}
            onKeyDown={(event) => {
              if (event.key === 'Enter') void save(typed.value);
            }}
            onInput={(event) => typed.put({ ...typed.value, [field]: event.currentTarget.value })}
          />
          <p
            id={`${id}-${field}-help`}
            class={`field-help${problems.value[field] === undefined ? '' : ' wrong'}`}
            role="status"
          >
            {problems.value[field] ??
              `The operator allows ${WORDS[field].most(operatorLimits[field])}. Empty: the operator’s limit.`}
          </p>
        </div>
      ))}
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <div class="buttons">
        <Button kind="primary" busy={busy} onClick={() => void save(typed.value)}>
          {busy ? 'Saving …' : 'Save'}
        </Button>
        <Button disabled={busy} onClick={() => void save({ monthlyTokens: '', requestsPerMinute: '' })}>
          Use the operator’s limits
        </Button>
        <Button
          kind="quiet"
          onClick={() => {
            typed.drop();
            onEnd();
          }}
        >
          Cancel
        </Button>
      </div>
    </form>
  );
}
