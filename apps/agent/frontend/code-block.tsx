// A block of code, with a button that copies it.
import { useEffect, useRef, useState } from 'preact/hooks';

const CONFIRMED_MS = 4_000;

export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>();
  const code = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <div class="code">
      <div class="row between">
        <span class="quiet small">{language === '' ? 'Code' : language}</span>
        <button
          type="button"
          class="slim"
          onClick={() => void copy(text, code.current).then((done) => setOutcome(done ? 'copied' : 'failed'))}
        >
          {outcome === 'copied' ? 'Copied' : 'Copy'}
          <span class="only-read"> the code</span>
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <pre ref={code} tabIndex={0}>
        <code>{text}</code>
      </pre>
      <p class="only-read" role="status">
        {outcome === 'copied' && 'Copied.'}
      </p>
      {outcome === 'failed' && <p class="small">This browser didn’t allow it. Select the text and copy it.</p>}
    </div>
  );
}

/** Frames of apps may not use the clipboard of most browsers; what is selected after a press they may copy. */
async function copy(text: string, shown: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const selection = getSelection();
    if (shown === null || selection === null) return false;
    selection.selectAllChildren(shown);
    const done = document.execCommand('copy');
    if (done) selection.removeAllRanges();
    return done;
  }
}
