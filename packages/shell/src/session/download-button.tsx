// The button that downloads the account: how large it will be, how far it is, and how it ended.
import type { StorageUse } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../api/client.ts';
import { Button, Note } from '../design/controls.tsx';
import { sizeText } from '../design/words.ts';
import { downloadAccount } from './download-account.ts';
import { type Failure, failureOf } from './failure.ts';

type State =
  | { readonly kind: 'idle' | 'asking' | 'done' }
  | { readonly kind: 'running'; readonly bytes: number; readonly most: number | null };

export function DownloadButton() {
  const state = useSignal<State>({ kind: 'idle' });
  const failure = useSignal<Failure | null>(null);
  const volumes = useSignal(true);
  const use = useSignal<StorageUse | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => {
    // Without it, the download only says less.
    call('storage.use').then(
      (value) => (use.value = value),
      () => undefined,
    );
    return () => running.current?.abort();
  }, []);

  async function download(): Promise<void> {
    const own = new AbortController();
    running.current = own;
    failure.value = null;
    state.value = { kind: 'asking' };
    const most = use.value === null ? null : mostBytes(use.value, volumes.value);
    const onBytes = (bytes: number) => (state.value = { kind: 'running', bytes, most });
    try {
      await downloadAccount({ volumes: volumes.value, onBytes, signal: own.signal });
      state.value = { kind: 'done' };
    } catch (error) {
      state.value = { kind: 'idle' };
      if (!own.signal.aborted)
        failure.value = failureOf(error, 'The download broke off, and nothing was saved. Start it again.');
    }
  }

  const now = state.value;
  const busy = now.kind === 'asking' || now.kind === 'running';
  return (
    <div class="download">
      {use.value !== null && use.value.volumes.length > 0 && (
        <Volumes use={use.value} isChosen={volumes.value} onChoice={(chosen) => (volumes.value = chosen)} busy={busy} />
      )}
      {use.value !== null && use.value.contentBytes > 0 && (
        <p class="quiet-text">
          Your files, those of your apps and your collections are in it: up to {sizeText(use.value.contentBytes)}.
        </p>
      )}
      <div class="buttons">
        <Button icon="download" busy={busy} onClick={() => void download()}>
          Download my data
        </Button>
        {now.kind === 'running' && (
          <Button kind="quiet" onClick={() => running.current?.abort()}>
            Cancel
          </Button>
        )}
      </div>
      {now.kind === 'asking' && (
        <p role="status" class="quiet-text">
          Waiting for your passkey …
        </p>
      )}
      {now.kind === 'running' && <Progress {...now} />}
      {now.kind === 'done' && <Note tone="success">Downloaded. README.txt in the archive explains its files.</Note>}
      {failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>}
    </div>
  );
}

/** What the archive takes unpacked, which is more than what arrives. `null` where a part of it is unknown. */
function mostBytes({ volumes, packageBytes, contentBytes }: StorageUse, withVolumes: boolean): number | null {
  const own = packageBytes + contentBytes;
  // The rest is lists, which are small, and nothing to measure a download by.
  if (!withVolumes) return own === 0 ? null : own;
  return volumes.reduce<number | null>((sum, { bytes }) => (sum === null || bytes === null ? null : sum + bytes), own);
}

interface VolumesProps {
  readonly use: StorageUse;
  readonly isChosen: boolean;
  readonly onChoice: (chosen: boolean) => void;
  readonly busy: boolean;
}

function Volumes({ use: { volumes }, isChosen, onChoice, busy }: VolumesProps) {
  const known = volumes.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  const silent = volumes.filter(({ bytes }) => bytes === null).map(({ name }) => name);
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={isChosen}
          disabled={busy}
          onChange={({ currentTarget }) => onChoice(currentTarget.checked)}
        />
        <span>
          Include the volumes of {volumes.length === 1 ? 'one app' : `${volumes.length} apps`}, up to {sizeText(known)}.
          Each app stops while its volume is copied.
        </span>
      </label>
      {isChosen && silent.length > 0 && (
        <p class="quiet-text">
          Size unknown: {silent.join(', ')}. If their machines can’t be reached, the archive says what is missing.
        </p>
      )}
    </>
  );
}

function Progress({ bytes, most }: { readonly bytes: number; readonly most: number | null }) {
  const text = `${sizeText(bytes)}${most === null || most < bytes ? '' : ` of at most ${sizeText(most)}`} downloaded …`;
  return (
    <>
      {most !== null && (
        <progress class="download-progress" value={Math.min(bytes, most)} max={most} aria-label="Download" />
      )}
      <p role="status" class="quiet-text">
        {text}
      </p>
    </>
  );
}
