// The page that stands in for the shell while the platform does not answer. It says so, and goes on by itself once it does. Nothing of
// it is stored, and it holds nothing of anybody: it is text of this script.

const TITLE = 'Platform can’t be reached';

/** In the page. It is given to it as text, so it uses nothing from outside. */
function goOn(): void {
  const EVERY_MS = 3_000;
  const chosen = localStorage.getItem('platform.theme');
  if (chosen !== null) document.documentElement.dataset.theme = chosen;
  const about = document.getElementById('about');
  const say = () => {
    if (about !== null)
      about.textContent = navigator.onLine
        ? 'The machine that it runs on may be off, or something between you and it is.'
        : 'This device is offline.';
  };
  const look = async () => {
    say();
    const answer = await fetch('/v1/health', { cache: 'no-store' }).catch(() => null);
    if (answer?.ok === true) location.reload();
  };
  addEventListener('online', () => void look());
  addEventListener('offline', say);
  document.getElementById('again')?.addEventListener('click', () => void look());
  document.addEventListener('visibilitychange', () => void (document.hidden || look()));
  setInterval(() => void (document.hidden || look()), EVERY_MS);
  say();
}

const STYLE = `
:root { color-scheme: light dark; }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
body { display: grid; place-items: center; min-height: 100dvh; margin: 0; padding: 1.5rem;
  background: light-dark(#f3f2ee, #121413); color: light-dark(#1b1d1a, #eceee9);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", sans-serif; }
main { max-width: 28rem; text-align: center; }
h1 { margin: 1.25rem 0 0.75rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 0.75rem; color: light-dark(#5a5d55, #a9afa8); }
button { min-height: 2.75rem; margin-top: 0.75rem; padding: 0 1.25rem; border: 0; border-radius: 12px;
  background: light-dark(#0c5c50, #84d6c2); color: light-dark(#ffffff, #06251f); font: inherit; font-weight: 600; cursor: pointer; }
button:focus-visible { outline: 3px solid light-dark(#0c5c50, #84d6c2); outline-offset: 3px; }
`;

const SCRIPT = `(${goOn.toString()})()`;

const MARK = `<svg width="56" height="56" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9" fill="#0c5c50"/><path fill="#3f9585" d="M16 26.5 5.5 20.7l3.4-1.9L16 22.7l7.1-3.9 3.4 1.9L16 26.5Z"/><path fill="#7cc7b5" d="M16 21.2 5.5 15.4l3.4-1.9L16 17.4l7.1-3.9 3.4 1.9L16 21.2Z"/><path fill="#f3f6f2" d="M16 5 26.5 10.5 16 16 5.5 10.5 16 5Z"/></svg>`;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${TITLE}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
    <meta name="theme-color" media="(prefers-color-scheme: light)" content="#f3f2ee" />
    <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#121413" />
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      ${MARK}
      <h1>${TITLE}</h1>
      <p id="about" role="status"></p>
      <p>Your apps and what they keep are where they were. This page goes on by itself as soon as the platform answers.</p>
      <button type="button" id="again">Try again</button>
    </main>
    <script>${SCRIPT}</script>
  </body>
</html>
`;

/** Its policy lets the one script and the one style of the page be, and nothing else. */
export async function offlinePage(): Promise<Response> {
  const policy = [
    "default-src 'none'",
    `script-src '${await hashOf(SCRIPT)}'`,
    `style-src '${await hashOf(STYLE)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return new Response(PAGE, {
    status: 503,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  });
}

async function hashOf(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `sha256-${btoa(String.fromCharCode(...hash))}`;
}
