// The part of a prompt that scrolls, which shows that there is more of it below: by a mark at its end, which a press follows,
// and as a region of its own that takes the focus, so that the arrow keys scroll it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../design/icons.tsx';

interface ScrollBoxProps {
  /** What is in it, for who cannot see it. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Less than this is no more than the padding below the last line. */
const LEAST_PIXELS = 12;

export function ScrollBox({ label, children }: ScrollBoxProps) {
  const box = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const scrolls = useSignal(false);
  const more = useSignal(false);

  function measure(): void {
    const element = box.current;
    if (element === null) return;
    const { scrollHeight, clientHeight, scrollTop } = element;
    scrolls.value = scrollHeight - clientHeight > LEAST_PIXELS;
    more.value = scrollHeight - clientHeight - scrollTop > LEAST_PIXELS;
  }

  useEffect(() => {
    const observer = new ResizeObserver(measure);
    for (const element of [box.current, content.current]) if (element !== null) observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  function goOn(): void {
    const element = box.current;
    element?.scrollBy({ top: element.clientHeight * 0.8, behavior: 'smooth' });
  }

  return (
    <div class="scroll-box">
      <section
        ref={box}
        class="prompt-scroll"
        onScroll={measure}
        aria-label={label}
        {...(scrolls.value ? { tabIndex: 0 } : {})}
      >
        <div ref={content} class="prompt-content">
          {children}
        </div>
      </section>
      {more.value && (
        // Who reads with a screen reader or the keyboard gets to all of it anyway.
        <button type="button" class="more-below" tabIndex={-1} aria-hidden="true" onClick={goOn}>
          More below
          <Icon name="down" size={16} />
        </button>
      )}
    </div>
  );
}
