// Repeats a reading while the page is visible: core sends no live events about workflow runs.
import { useEffect, useRef } from 'preact/hooks';

/**
 * @param everyMs from the end of one reading to the next, or `null` for no more; a page that was hidden reads at once
 */
export function usePolling(read: () => Promise<unknown>, everyMs: number | null): void {
  const newest = useRef(read);
  newest.current = read;
  useEffect(() => {
    if (everyMs === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    let reading = false;
    const plan = () => {
      clearTimeout(timer);
      if (!ended && !document.hidden) timer = setTimeout(() => void again(), everyMs);
    };
    async function again(): Promise<void> {
      if (reading || document.hidden) return;
      reading = true;
      await newest.current();
      reading = false;
      plan();
    }
    const onVisibility = () => (document.hidden ? clearTimeout(timer) : void again());
    document.addEventListener('visibilitychange', onVisibility);
    plan();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [everyMs]);
}
