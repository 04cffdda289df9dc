// The screenshots of an app: a row to scroll through, and each of them large. Read over the bridge, because a frame may
// not load from the shell's origin.
import type { App, AppDetails } from '@platform/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';

interface GalleryProps {
  readonly app: App;
  readonly detail: AppDetails;
}

export function Gallery({ app, detail }: GalleryProps) {
  const { appId, name, version, screenshots } = detail;
  /** `data:` addresses by place; `undefined` while it is read, `null` when it could not be. */
  const [pictures, setPictures] = useState<readonly (string | null | undefined)[]>([]);
  const [large, setLarge] = useState<number>();
  useEffect(() => {
    let wanted = true;
    setPictures([]);
    const read = async () => {
      // One after the other: the first is seen soon.
      for (const index of screenshots.keys()) {
        const params = { appId, version, number: index + 1 };
        const { picture } = await app.bridge.call('apps.screenshot', params).catch(() => ({ picture: null }));
        if (!wanted) return;
        setPictures((before) => [...before, picture]);
      }
    };
    void read();
    return () => {
      wanted = false;
    };
  }, [appId, version]);
  if (screenshots.length === 0) return null;
  const alt = (index: number) => `Screenshot ${index + 1} of ${screenshots.length} of ${name}`;
  return (
    <section aria-label="Screenshots">
      <ul class="plain shots">
        {screenshots.map((path, index) => (
          <li key={path}>
            {isPicture(pictures[index]) ? (
              <button type="button" class="shot" onClick={() => setLarge(index)} aria-label={`${alt(index)}, enlarge`}>
                <img src={pictures[index]} alt="" loading="lazy" decoding="async" />
              </button>
            ) : (
              <span class="shot waiting">{pictures[index] === null && 'Not available'}</span>
            )}
          </li>
        ))}
      </ul>
      {large !== undefined && (
        <Enlarged
          pictures={pictures.flatMap((picture, index) =>
            isPicture(picture) ? [{ picture, alt: alt(index), index }] : [],
          )}
          first={large}
          onClose={() => setLarge(undefined)}
        />
      )}
    </section>
  );
}

function isPicture(picture: string | null | undefined): picture is string {
  return typeof picture === 'string';
}

interface EnlargedProps {
  readonly pictures: readonly { readonly picture: string; readonly alt: string; readonly index: number }[];
  readonly first: number;
  readonly onClose: () => void;
}

function Enlarged({ pictures, first, onClose }: EnlargedProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [at, setAt] = useState(pictures.findIndex(({ index }) => index === first));
  const shown = pictures[at];
  useEffect(() => dialog.current?.showModal(), []);
  const turn = (by: number) => setAt((before) => Math.min(pictures.length - 1, Math.max(0, before + by)));
  const turnByKey = ({ key }: KeyboardEvent) => {
    if (key === 'ArrowLeft') turn(-1);
    if (key === 'ArrowRight') turn(1);
  };
  return (
    <dialog ref={dialog} class="enlarged" aria-label="Screenshots" onClose={onClose} onKeyDown={turnByKey}>
      {shown !== undefined && <img src={shown.picture} alt={shown.alt} />}
      <div class="row between">
        <div class="row">
          <button type="button" disabled={at === 0} onClick={() => turn(-1)} aria-label="Previous">
            ‹
          </button>
          <button type="button" disabled={at === pictures.length - 1} onClick={() => turn(1)} aria-label="Next">
            ›
          </button>
          <span class="quiet small" role="status">
            {at + 1} of {pictures.length}
          </span>
        </div>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
