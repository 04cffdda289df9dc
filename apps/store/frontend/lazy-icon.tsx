// The picture of an app that is read when it comes into view. Its place has its size before.
import { useEffect, useRef, useState } from 'preact/hooks';
import { AppIcon } from '../../shared/app-icon.tsx';
import type { Icons } from './icons.ts';

/** Before it is seen, so that somebody who scrolls finds it there. */
const AHEAD = '300px';

interface LazyIconProps {
  readonly icons: Icons;
  readonly entry: {
    readonly appId: string;
    readonly name: string;
    readonly version: string;
    /** A path, or the picture itself where it came with what is shown; `null` where the app has none. */
    readonly icon: string | null;
  };
  readonly large?: boolean;
}

export function LazyIcon({ icons, entry: { appId, name, version, icon }, large = false }: LazyIconProps) {
  const place = useRef<HTMLSpanElement>(null);
  const [picture, setPicture] = useState<string | null>(null);
  const there = icon?.startsWith('/') === true;
  useEffect(() => {
    setPicture(icons.atHand({ appId, version }) ?? null);
    if (!there || place.current === null) return;
    let leave = () => {};
    const observer = new IntersectionObserver(
      (changes) => {
        leave();
        if (changes.at(-1)?.isIntersecting !== true) return;
        leave = icons.ask({ appId, version }, (found) => {
          setPicture(found);
          if (found !== null) observer.disconnect();
        });
      },
      { root: document, rootMargin: AHEAD },
    );
    observer.observe(place.current);
    return () => {
      leave();
      observer.disconnect();
    };
  }, [appId, version, there]);
  return (
    <span ref={place} class="icon-place">
      <AppIcon appId={appId} name={name} icon={there ? picture : icon} large={large} />
    </span>
  );
}
