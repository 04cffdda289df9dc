// What a review ends with when a new app is there.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { AppPicture } from '../../apps/app-picture.tsx';
import { openApp } from '../../apps/frames/open-apps.ts';
import { Button } from '../../design/controls.tsx';

interface InstalledProps {
  readonly app: {
    readonly appId: string;
    readonly name: string;
    readonly icon: string | null;
    readonly hasFrontend: boolean;
  };
  readonly onDone: () => void;
  readonly children?: ComponentChildren;
}

export function Installed({ app: { appId, name, icon, hasFrontend }, onDone, children }: InstalledProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div class="prompt-done">
      <AppPicture appId={appId} name={name} path={icon} size="large" />
      <h2 id="prompt-title" ref={heading} tabIndex={-1}>
        {name} is installed
      </h2>
      <p class="quiet-text">It’s on your home screen.</p>
      {children}
      <div class="decision">
        <Button onClick={onDone}>Done</Button>
        {hasFrontend && (
          <Button
            kind="primary"
            onClick={() => {
              onDone();
              openApp(appId);
            }}
          >
            Open {name}
          </Button>
        )}
      </div>
    </div>
  );
}
