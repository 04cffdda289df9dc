// JSON as addresses and tickets carry it.

/** @throws SyntaxError, or a DOMException of the runtime, for what is none */
export function decodeJson(base64url: string): unknown {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (letter) => letter.charCodeAt(0))));
}
