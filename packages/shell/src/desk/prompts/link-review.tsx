// The question before an address outside the platform opens in a new tab. It shows the whole address, the host as browsers
// resolve it (punycode), since an app can make one look like another and put into it whatever it knows.
import { Note } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { type Asked, type Asker, ask } from './ask.tsx';
import { AskerLine, Decision } from './parts.tsx';
import { shortHost } from './short-host.ts';

/** Before an address outside the platform is opened. */
export function askToOpenLink(url: string, asker: Asker): Promise<boolean> {
  return ask(LinkReview, asker, { url });
}

function LinkReview({ asked }: { readonly asked: Asked & { readonly url: string } }) {
  const { host, hostname, origin, href } = new URL(asked.url);
  const rest = href.slice(origin.length);

  function open(): void {
    // In the press itself: a browser opens a window for nothing later.
    window.open(href, '_blank', 'noopener,noreferrer');
    asked.answer(true);
  }

  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to open a link:" />
      <div class="prompt-app">
        <span class="prompt-picture neutral">
          <Icon name="leave" size={28} />
        </span>
        <h2 id="prompt-title">Open {shortHost(host)}?</h2>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section class="prompt-address" aria-label="Address" tabIndex={0}>
        <strong>{origin}</strong>
        {rest}
      </section>
      {hostname.split('.').some((label) => label.startsWith('xn--')) && (
        <Note tone="warning">
          This site’s name uses letters that can look like others. It is shown in encoded form.
        </Note>
      )}
      <p>It opens in a new tab, outside the platform. The site receives everything in the address.</p>
      <Decision no="Don’t open" yes="Open" busy={false} onNo={() => asked.answer(false)} onYes={open} />
    </>
  );
}
