// A look at the pages of an app before it is accepted: they run at an origin of their own, and nobody answers what they ask of the platform.
// They take the place of the review, so that nothing is decided while they are shown.
import { FRAME_SANDBOX, type DraftReview as Review } from '@platform/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { createGreeter, readGreeting } from '../../apps/bridge/handshake.ts';
import { Button, Note } from '../../design/controls.tsx';
import { PREVIEW_MILLISECONDS } from './preview-time.ts';

interface PreviewProps {
  readonly draft: Pick<Review, 'id' | 'hash' | 'name' | 'hasWorkload'>;
  readonly onBack: () => void;
}

export function DraftPreview({ draft, onBack }: PreviewProps) {
  const { id, hash, name, hasWorkload } = draft;
  const place = useRef<HTMLDivElement>(null);
  const back = useRef<HTMLButtonElement>(null);
  const [failure, setFailure] = useState<string | null>(null);
  /** How often it was shown. */
  const [turn, setTurn] = useState(0);
  const [isOver, setOver] = useState(false);
  useEffect(() => back.current?.focus(), []);
  useEffect(() => {
    let end = () => {};
    let ended = false;
    setFailure(null);
    setOver(false);
    call('account.drafts.preview', { params: { id }, body: { hash } })
      .then(({ origin, url }) => {
        if (ended || place.current === null) return;
        const frame = frameOf(url, `Preview of ${name}`);
        const stop = answerGreetings(frame, origin);
        place.current.append(frame);
        const close = () => {
          stop();
          frame.remove();
        };
        // Of the clock of this machine alone: that of core may differ. Afterwards its files are served no more.
        const timer = setTimeout(() => {
          close();
          setOver(true);
          back.current?.focus();
        }, PREVIEW_MILLISECONDS);
        end = () => {
          clearTimeout(timer);
          close();
        };
      })
      .catch((error: unknown) => ended || setFailure(plainMessage(error)));
    return () => {
      ended = true;
      end();
    };
  }, [id, hash, turn]);
  return (
    <>
      <h2 id="prompt-title">Preview of {name}</h2>
      <p class="quiet-text">
        Its page as it would open, without any permission{hasWorkload && ' and without its backend'}. It is not added
        yet, and nothing that you enter is kept.
      </p>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {isOver && (
        <Note tone="info">The preview has ended: its page is served for ten minutes. Nothing of it is kept.</Note>
      )}
      {(isOver || failure !== null) && (
        <p>
          <Button icon="play" onClick={() => setTurn(turn + 1)}>
            Preview again
          </Button>
        </p>
      )}
      <div class="draft-preview" ref={place} hidden={isOver || failure !== null} />
      <div class="decision">
        <button ref={back} type="button" class="button plain" data-default data-leaves-frame onClick={onBack}>
          Back to the review
        </button>
      </div>
    </>
  );
}

function frameOf(address: string, title: string): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.title = title;
  frame.setAttribute('sandbox', FRAME_SANDBOX);
  frame.referrerPolicy = 'no-referrer';
  frame.src = address;
  return frame;
}

/** Launch data without a launch: the SDK then says at once that this is a preview. No hello is answered. @returns stops it */
function answerGreetings(frame: HTMLIFrameElement, origin: string): () => void {
  const launches = createGreeter(origin);
  const listen = (event: MessageEvent) => {
    if (event.source === null || event.source !== frame.contentWindow) return;
    const greeting = readGreeting(event.data);
    if (greeting?.type !== 'platform.launch' || !launches.accepts(event.origin, greeting)) return;
    const { version, nonce } = greeting;
    frame.contentWindow?.postMessage({ type: 'platform.launched', version, nonce, fragment: '' }, origin);
  };
  window.addEventListener('message', listen);
  return () => window.removeEventListener('message', listen);
}
