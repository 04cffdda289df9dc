// What a file looks like in the list: a picture as itself, anything else by the end of its name.
import type { UserFile } from '@platform/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { endingOf, previewOf } from './words.ts';

/** Bytes. Larger pictures are loaded when the person asks to see them. */
const LARGEST = 1_048_576;

interface TileProps {
  readonly file: UserFile;
  readonly read: () => Promise<Blob>;
}

/** Says nothing that its row does not say in words. */
export function Tile({ file, read }: TileProps) {
  const [address, setAddress] = useState<string>();
  const place = useRef<HTMLDivElement>(null);
  const isShown = previewOf(file) === 'picture' && file.size <= LARGEST;
  useEffect(() => {
    if (!isShown || place.current === null) return;
    let made: string | undefined;
    let left = false;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting !== true) return;
      observer.disconnect();
      read()
        .then((blob) => {
          if (left) return;
          made = URL.createObjectURL(blob);
          setAddress(made);
        })
        // The tile with letters stays.
        .catch(() => undefined);
    });
    observer.observe(place.current);
    return () => {
      left = true;
      observer.disconnect();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [file.id, file.etag]);
  return (
    <div ref={place} class="tile" aria-hidden="true">
      {address === undefined ? endingOf(file) : <img src={address} alt="" />}
    </div>
  );
}
