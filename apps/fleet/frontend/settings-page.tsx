// What holds for the whole platform, to read. The shell's own page changes it: it takes keys and passkeys, and no app does.
import type { App } from '@platform/sdk/browser';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf, useLoaded } from '../../shared/use-loaded.ts';

const read = (app: App) => app.bridge.call('system.settings');
type Settings = Awaited<ReturnType<typeof read>>;

const REGISTRATION = { open: 'Open to everyone', invite: 'By invitation', closed: 'Closed' } as const;
const PLAN = { free: 'Free', paid: 'Paid' } as const;
const SOURCE = { file: 'set on the server', fleet: 'set here', default: 'default' } as const;

export function SettingsPage({ app }: { readonly app: App }) {
  const { value, failure } = useLoaded(app, () => read(app));
  const [problem, setProblem] = useState<string>();
  const change = () => {
    app.bridge.call('chrome.set', { surface: 'platform' }).catch((error: unknown) => setProblem(messageOf(error)));
  };
  return (
    <>
      <Failure text={failure ?? problem} />
      {value !== undefined && (
        <>
          <Values settings={value} />
          <div class="row settings-change">
            <button type="button" class="primary" onClick={change}>
              Change settings …
            </button>
            <p class="quiet small grow">
              Opens a page of the platform itself, where you confirm each change with your passkey. What is set on the
              server can be changed only there.
            </p>
          </div>
        </>
      )}
    </>
  );
}

function Values({ settings }: { readonly settings: Settings }) {
  const { registration, defaultPlan, monthlyTokens, requestsPerMinute, providers } = settings;
  const inUse = providers.filter(({ inForce }) => inForce);
  return (
    <>
      <section aria-labelledby="accounts-settings">
        <h2 id="accounts-settings">Accounts</h2>
        <dl class="card facts">
          <Fact name="Registration" value={REGISTRATION[registration.value]} source={registration.source} />
          <Fact name="Default plan" value={PLAN[defaultPlan.value]} source={defaultPlan.source} />
        </dl>
      </section>
      <section aria-labelledby="ai-settings">
        <h2 id="ai-settings">AI</h2>
        <dl class="card facts">
          {inUse.length === 0 ? (
            <Fact name="Providers" value="None yet" />
          ) : (
            inUse.map(({ provider, name, baseUrl, keySet, source }) => (
              <Fact
                key={provider}
                name={name}
                value={keySet ? baseUrl : `${baseUrl}, without a key of the platform`}
                source={source}
              />
            ))
          )}
          <Fact
            name="Each app"
            value={`${monthlyTokens.value.toLocaleString('en')} tokens a month, ${requestsPerMinute.value.toLocaleString('en')} calls a minute`}
          />
        </dl>
      </section>
    </>
  );
}

interface FactProps {
  readonly name: string;
  readonly value: string;
  readonly source?: keyof typeof SOURCE;
}

function Fact({ name, value, source }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {source !== undefined && <span class="quiet small"> · {SOURCE[source]}</span>}
      </dd>
    </div>
  );
}
