// The button that downloads the account, how far it is, and how it ended.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button, Note } from '../design/controls.tsx';
import { sizeText } from '../design/words.ts';
import { downloadAccount } from './download-account.ts';
import { type Failure, failureOf } from './failure.ts';

type State = { readonly kind: 'idle' | 'done' } | { readonly kind: 'running'; readonly bytes: number };

export function DownloadButton() {
  const state = useSignal<State>({ kind: 'idle' });
  const failure = useSignal<Failure | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function download(): Promise<void> {
    const own = new AbortController();
    running.current = own;
    failure.value = null;
    state.value = { kind: 'running', bytes: 0 };
    try {
      await downloadAccount((arrived) => (state.value = { kind: 'running', bytes: arrived }), own.signal);
      state.value = { kind: 'done' };
    } catch (error) {
      state.value = { kind: 'idle' };
      if (!own.signal.aborted) failure.value = failureOf(error, 'The download broke off. Try again.');
    }
  }

  const now = state.value;
  return (
    <div class="download">
      <div class="buttons">
        <Button icon="download" busy={now.kind === 'running'} onClick={() => void download()}>
          Download my data
        </Button>
        {now.kind === 'running' && now.bytes > 0 && (
          <Button kind="quiet" onClick={() => running.current?.abort()}>
            Cancel
          </Button>
        )}
      </div>
      {now.kind === 'running' && (
        <p role="status" class="quiet-text">
          {now.bytes === 0 ? 'Waiting for your passkey …' : `${sizeText(now.bytes)} downloaded …`}
        </p>
      )}
      {now.kind === 'done' && <Note tone="success">Downloaded. README.txt in the archive explains its files.</Note>}
      {failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>}
    </div>
  );
}
