// The question whether a client outside the platform may connect: who says it asks, where what it gets goes, and what it may do. Its
// name is its own word; the host is where the browser goes next. It begins as core chooses beforehand: what only reads is used
// without asking, everything else when the person approves.
import type { ConnectionRequest } from '@platform/contract';
import { isLoopbackHost, readScope, scopeCovers, withoutCovered, writtenScope } from '@platform/contract/tool-scopes';
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { confirmWithPasskey } from '../../session/confirm.ts';
import { type Failure, failureOf } from '../../session/failure.ts';
import { type Asked, ask } from '../prompts/ask.tsx';
import { Decision } from '../prompts/parts.tsx';
import { ScrollBox } from '../prompts/scroll-box.tsx';
import { shortHost } from '../prompts/short-host.ts';
import { nameOfApp } from './name-of-app.ts';
import { READS, scopesOfTopic, TOPICS, toolsOf } from './scope-words.ts';

interface Connecting {
  readonly id: string;
  readonly request: ConnectionRequest;
}

/** Resolves when the browser is on its way back to the client, or the person stays. */
export async function askToConnect(id: string, request: ConnectionRequest): Promise<void> {
  if (await ask(ConnectionReview, null, { id, request })) return;
  // Closing the question is a no, which core tells the client.
  const { continueAt } = await call('account.connectionRequests.decide', {
    params: { id },
    body: { decision: 'deny' },
  });
  location.assign(continueAt);
}

type Use = 'none' | 'propose' | 'call';

/** What was asked for, as rows of the question: topics to read, and tools by pattern. */
function choicesOf({ scopes, app }: ConnectionRequest) {
  const topics =
    app === null
      ? TOPICS.filter((topic) => scopesOfTopic(topic).every((scope) => scopes.some((one) => scopeCovers(one, scope))))
      : [];
  const read = scopes.flatMap((scope) => readScope(scope) ?? []);
  const patterns = [...new Set(read.map(({ pattern }) => pattern))].map((pattern) => ({
    pattern,
    mayCall: read.some((one) => one.use === 'call' && one.pattern === pattern),
  }));
  return { topics, patterns };
}

function ConnectionReview({ asked }: { readonly asked: Asked & Connecting }) {
  const { id, request } = asked;
  const { client, app } = request;
  const { topics, patterns } = choicesOf(request);
  const unread = useSignal<readonly string[]>([]);
  const uses = useSignal<Readonly<Record<string, Use>>>({});
  const working = useSignal(false);
  const failure = useSignal<Failure | null>(null);
  const useOf = (pattern: string): Use => uses.value[pattern] ?? 'propose';

  const chosen = withoutCovered([
    ...topics.filter((topic) => !unread.value.includes(topic)).flatMap(scopesOfTopic),
    ...patterns.flatMap(({ pattern }) => {
      const use = useOf(pattern);
      return use === 'none' ? [] : [writtenScope({ use, pattern })];
    }),
  ]);
  const withoutAsking = patterns.filter(({ pattern }) => useOf(pattern) === 'call');

  async function approve(): Promise<void> {
    working.value = true;
    failure.value = null;
    try {
      const confirmation = await confirmWithPasskey('connection.allow', id);
      const body = { decision: 'allow', scopes: chosen, confirmation } as const;
      const { continueAt } = await call('account.connectionRequests.decide', { params: { id }, body });
      location.assign(continueAt);
      asked.answer(true);
    } catch (error) {
      failure.value = failureOf(error);
    }
    working.value = false;
  }

  return (
    <>
      <div class="prompt-app">
        <span class="prompt-picture neutral">
          <Icon name="link" size={28} />
        </span>
        <div>
          <h2 id="prompt-title">Connect a client?</h2>
          <p class="prompt-publisher">
            <span>It calls itself “{client.name}”</span>
          </p>
        </div>
      </div>
      <ScrollBox label="Who asks, and what it may do">
        <WhereItIs request={request} />
        <p>
          {app === null ? 'It wants to use your tools' : `It wants to use tools of ${nameOfApp(app)}`}. You can
          disconnect it in Settings at any time; unused, it ends after 30 days.
        </p>
        {topics.length > 0 && (
          <fieldset class="connection-choices">
            <legend>Without asking you</legend>
            {topics.map((topic) => (
              <label key={topic} class="connection-read">
                <input
                  type="checkbox"
                  checked={!unread.value.includes(topic)}
                  disabled={working.value}
                  onChange={({ currentTarget: { checked } }) => {
                    const others = unread.value.filter((one) => one !== topic);
                    unread.value = checked ? others : [...others, topic];
                  }}
                />
                <span>{READS[topic]}</span>
              </label>
            ))}
          </fieldset>
        )}
        <fieldset class="connection-choices">
          <legend>{topics.length > 0 ? 'Everything else' : 'Tools'}</legend>
          {patterns.map(({ pattern, mayCall }) => (
            <label key={pattern} class="connection-use">
              <span>Use {toolsOf(pattern, nameOfApp)}</span>
              <select
                value={useOf(pattern)}
                disabled={working.value}
                onChange={({ currentTarget: { value } }) => {
                  uses.value = { ...uses.value, [pattern]: value as Use };
                }}
              >
                <option value="none">Never</option>
                <option value="propose">When I approve</option>
                {mayCall && <option value="call">Without asking</option>}
              </select>
            </label>
          ))}
        </fieldset>
        {withoutAsking.length > 0 && (
          <Note tone="warning">
            Without asking, it can also change, send, delete and pay, whatever the tools can do, and read what their
            apps offer. Allow this only to a client that you trust with your account.
          </Note>
        )}
        <Note tone="info">
          Did you begin this in the client yourself? If not, don’t allow it: whoever began it would get these tools.
        </Note>
      </ScrollBox>
      <p class="quiet-text">You confirm with your passkey.</p>
      {failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>}
      <Decision
        no="Don’t connect"
        yes={working.value ? 'Connecting …' : 'Connect'}
        busy={working.value}
        disabled={chosen.length === 0}
        onNo={() => asked.answer(false)}
        onYes={() => void approve()}
      />
    </>
  );
}

/** The one thing about a client that it cannot choose: where the browser takes the answer. */
function WhereItIs({ request: { client, documentHost } }: { readonly request: ConnectionRequest }) {
  if (isLoopbackHost(client.host))
    return (
      <p>
        <strong>A program on this computer.</strong> Any program here can call itself that
        {documentHost !== null && `, and refer to ${shortHost(documentHost)}`}.
      </p>
    );
  return (
    <p>
      At <strong>{shortHost(client.host)}</strong>, where your browser goes next
      {documentHost !== null && documentHost !== client.host && `; described by ${shortHost(documentHost)}`}.
    </p>
  );
}
