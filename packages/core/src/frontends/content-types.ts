// Media types of static files by extension: what the web is made of. Everything else is bytes to download, because
// no browser may guess (`X-Content-Type-Options: nosniff`).
import * as path from 'node:path';

const utf8 = (type: string) => `${type}; charset=utf-8`;

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', utf8('text/html')],
  ['.htm', utf8('text/html')],
  ['.xhtml', utf8('application/xhtml+xml')],
  ['.js', utf8('text/javascript')],
  ['.mjs', utf8('text/javascript')],
  ['.css', utf8('text/css')],
  ['.json', 'application/json'],
  ['.map', 'application/json'],
  ['.webmanifest', 'application/manifest+json'],
  ['.wasm', 'application/wasm'],
  ['.txt', utf8('text/plain')],
  ['.md', utf8('text/markdown')],
  ['.csv', utf8('text/csv')],
  ['.xml', utf8('application/xml')],
  ['.svg', utf8('image/svg+xml')],
  ['.png', 'image/png'],
  ['.apng', 'image/apng'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
  ['.avif', 'image/avif'],
  ['.ico', 'image/x-icon'],
  ['.bmp', 'image/bmp'],
  ['.woff', 'font/woff'],
  ['.woff2', 'font/woff2'],
  ['.ttf', 'font/ttf'],
  ['.otf', 'font/otf'],
  ['.mp3', 'audio/mpeg'],
  ['.m4a', 'audio/mp4'],
  ['.ogg', 'audio/ogg'],
  ['.opus', 'audio/ogg'],
  ['.wav', 'audio/wav'],
  ['.flac', 'audio/flac'],
  ['.mp4', 'video/mp4'],
  ['.webm', 'video/webm'],
  ['.ogv', 'video/ogg'],
  ['.vtt', utf8('text/vtt')],
  ['.pdf', 'application/pdf'],
  ['.zip', 'application/zip'],
]);

export function contentType(file: string): string {
  return TYPES.get(path.posix.extname(file).toLowerCase()) ?? 'application/octet-stream';
}
