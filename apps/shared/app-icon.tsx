// The picture of an app as the shell hands it over, or its first letter where it has none.
import { hueOf, letterOf } from '@platform/shell/letter';

interface AppIconProps {
  readonly appId: string;
  readonly name: string;
  /** A `data:` address from the bridge. */
  readonly icon: string | null;
  readonly large?: boolean;
}

export function AppIcon({ appId, name, icon, large = false }: AppIconProps) {
  const size = large ? 'app-icon large' : 'app-icon';
  // Always beside the app's name, so it says nothing of its own to a screen reader.
  if (icon?.startsWith('data:image/')) {
    const edge = large ? 64 : 44;
    return <img class={size} src={icon} alt="" width={edge} height={edge} loading="lazy" decoding="async" />;
  }
  return (
    <span class={`${size} letter-icon`} style={{ '--hue': hueOf(appId) }} aria-hidden="true">
      {letterOf(name)}
    </span>
  );
}
