// The page of an app whose function comes later: one honest line, and what is true already.
import type { App } from '@platform/sdk/browser';
import type { ComponentChildren } from 'preact';

interface ComingLaterProps {
  readonly app: App;
  readonly title: string;
  /** One sentence: what is not there yet. */
  readonly line: string;
  readonly children?: ComponentChildren;
}

export function ComingLater({ app, title, line, children }: ComingLaterProps) {
  const { accountName } = app.context;
  return (
    <main>
      <h1>{title}</h1>
      <p>{line}</p>
      <section class="card stack below">
        {accountName === undefined ? (
          <p class="quiet">This app has no permission to see your account name. You can allow it in Settings.</p>
        ) : (
          <p>
            Your account name is <strong>{accountName}</strong>.
          </p>
        )}
        {children}
      </section>
    </main>
  );
}
