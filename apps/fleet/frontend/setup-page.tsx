// What an operator sets up at the beginning: how far each thing is, read from the running platform, and where to do it.
import type { App } from '@platform/sdk/browser';
import { Failure } from '../../shared/failure.tsx';
import { useLoaded } from '../../shared/use-loaded.ts';
import { type SetupStep, setupSteps, stateWords } from './setup-steps.ts';

interface SetupPageProps {
  readonly app: App;
  /** Shows another page of Fleet. */
  readonly onPage: (name: string) => void;
}

export function SetupPage({ app, onPage }: SetupPageProps) {
  const { value, failure } = useLoaded(app, () => app.bridge.call('system.setup'));
  const steps = value === undefined ? [] : setupSteps(value);
  const open = steps.filter(({ state }) => state !== 'done').length;
  return (
    <>
      {value !== undefined && (
        <p class="quiet">
          {open === 0
            ? 'Everything is set up.'
            : `${steps.length - open} of ${steps.length} are set up. Take what you need; the platform works without the rest.`}
        </p>
      )}
      <Failure text={failure} />
      <ul class="plain list" aria-label="Setup">
        {steps.map((step) => (
          <Step key={step.id} step={step} onPage={onPage} />
        ))}
      </ul>
    </>
  );
}

function Step({ step, onPage }: { readonly step: SetupStep; readonly onPage: (name: string) => void }) {
  const { id, title, state, now, how, variables = [], page, docs } = step;
  return (
    <li class="card stack">
      <div class="row between">
        <h2 id={`setup-${id}`}>{title}</h2>
        <span class={state === 'done' ? 'badge good' : 'badge warn'}>{stateWords[state]}</span>
      </div>
      <p>{now}</p>
      <p class="quiet small">
        {how}
        {variables.length > 0 && ' '}
        {variables.map((variable, index) => (
          <span key={variable}>
            {index > 0 && ', '}
            <code>{variable}</code>
          </span>
        ))}
      </p>
      <p class="row small">
        {page !== undefined && (
          <button type="button" onClick={() => onPage(page)}>
            Open {page}
          </button>
        )}
        <span class="quiet">
          How: <code>{docs.file}</code>
          {docs.section !== undefined && `, “${docs.section}”`}
        </span>
      </p>
    </li>
  );
}
