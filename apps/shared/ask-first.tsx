// A button for what cannot be taken back: it asks in its own place, since browsers ignore `confirm` in a frame.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface AskFirstProps {
  /** On the button, e.g. `Delete`. */
  readonly word: string;
  /** What it is about, for screen readers. */
  readonly name: string;
  readonly question: string;
  readonly yes: string;
  /** Default: No. */
  readonly no?: string;
  readonly onYes: () => void;
}

export function AskFirst({ word, name, question, yes, no = 'No', onYes }: AskFirstProps) {
  const [asking, setAsking] = useState<boolean>();
  const keep = useRef<HTMLButtonElement>(null);
  const ask = useRef<HTMLButtonElement>(null);
  // With the drawing: a key that is pressed next must not find the focus nowhere.
  useLayoutEffect(() => {
    if (asking === undefined) return;
    if (asking) keep.current?.focus();
    else ask.current?.focus();
  }, [asking]);
  if (asking !== true)
    return (
      <button ref={ask} type="button" class="danger" onClick={() => setAsking(true)} aria-label={`${word} ${name}`}>
        {word}
      </button>
    );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would frame the question.
    <span class="row" role="group" aria-label={`${word} ${name}?`}>
      <span>{question}</span>
      <button
        type="button"
        class="danger"
        onClick={() => {
          setAsking(false);
          onYes();
        }}
      >
        {yes}
      </button>
      <button
        ref={keep}
        type="button"
        onClick={() => setAsking(false)}
        onKeyDown={(event) => event.key === 'Escape' && setAsking(false)}
      >
        {no}
      </button>
    </span>
  );
}
