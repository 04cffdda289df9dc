// The picture of an app, wherever the shell names one.
import { useEffect, useState } from 'preact/hooks';
import { hueOf, letterOf } from '../design/letter.ts';
import { iconAsData, iconRevision } from './app-icons.ts';

interface AppPictureProps {
  readonly appId: string;
  readonly name: string;
  readonly path: string | null;
  readonly size?: 'small' | 'middle' | 'large';
}

/** The app's own picture, or its first letter. Beside the name it is decoration. */
export function AppPicture({ appId, name, path, size = 'middle' }: AppPictureProps) {
  const [picture, setPicture] = useState<string | null | undefined>(path === null ? null : undefined);
  const revision = iconRevision.value;
  useEffect(() => {
    if (path === null) {
      setPicture(null);
      return;
    }
    let isWanted = true;
    void iconAsData(path).then((found) => {
      if (isWanted) setPicture(found);
    });
    return () => {
      isWanted = false;
    };
  }, [path, revision]);
  if (picture === undefined) return <span class={`picture ${size}`} aria-hidden="true" />;
  if (picture !== null) {
    // The style sheet gives it its size, before it is there too.
    const failed = () => setPicture(null);
    return <img class={`picture ${size}`} src={picture} alt="" loading="lazy" decoding="async" onError={failed} />;
  }
  return (
    <span class={`picture letter ${size}`} style={{ '--hue': hueOf(appId) }} aria-hidden="true">
      {letterOf(name)}
    </span>
  );
}
