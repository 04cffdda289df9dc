// Bytes as base64url without padding, and JSON as addresses and tickets carry it.

/** @throws a DOMException of the runtime for what is none */
export function bytesFromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

export function base64urlOf(bytes: Uint8Array): string {
  // Not all at once: a call takes no more arguments than its stack has room for.
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** @throws SyntaxError, or a DOMException of the runtime, for what is none */
export function decodeJson(base64url: string): unknown {
  return JSON.parse(new TextDecoder().decode(bytesFromBase64url(base64url)));
}
