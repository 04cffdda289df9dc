// Copies a text, and confirms it in the button and to screen readers.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from './controls.tsx';

const CONFIRMED_MS = 4_000;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers: `the address`. */
  readonly what: string;
  readonly kind?: 'primary' | 'plain';
}

export function CopyButton({ text, what, kind = 'plain' }: CopyButtonProps) {
  const outcome = useSignal<'none' | 'copied' | 'failed'>('none');
  useEffect(() => {
    if (outcome.value === 'none') return undefined;
    const timer = setTimeout(() => {
      outcome.value = 'none';
    }, CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [outcome.value]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      outcome.value = 'copied';
    } catch {
      // The browser may forbid it, and knows no clipboard over plain http.
      outcome.value = 'failed';
    }
  }

  const copied = outcome.value === 'copied';
  return (
    <>
      <Button kind={kind} icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy'}
        <span class="only-read"> {what}</span>
      </Button>
      <span class="copy-outcome" role="status">
        {outcome.value === 'failed' && 'This browser didn’t allow it. Select the text and copy it.'}
        {copied && <span class="only-read">Copied {what}.</span>}
      </span>
    </>
  );
}
