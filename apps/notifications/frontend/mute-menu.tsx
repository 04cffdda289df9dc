// Muting from a notification: the app that sent it, or only this kind of its news.
import type { Mute } from './use-settings.ts';

interface MuteMenuProps {
  readonly name: string;
  readonly appId: string;
  readonly topic: string;
  readonly onMute: (mute: Mute) => void;
}

export function MuteMenu({ name, appId, topic, onMute }: MuteMenuProps) {
  return (
    <details class="mute">
      <summary>Mute</summary>
      <div class="row">
        <button type="button" onClick={() => onMute({ appId, topic, muted: true })}>
          Only “{topic}”
        </button>
        <button type="button" onClick={() => onMute({ appId, topic: null, muted: true })}>
          All of {name}
        </button>
      </div>
    </details>
  );
}
