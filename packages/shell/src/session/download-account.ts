// Downloads the account: the passkey first, then one archive, which the browser keeps on its disk until it is saved.
import { send } from '../api/client.ts';
import { shellRoutes } from '../api/routes.ts';
import { confirmWithPasskey } from './confirm.ts';
import { saveFile } from './save-file.ts';

interface AccountDownload {
  /** Whether it contains what apps keep in their volumes. */
  readonly volumes: boolean;
  /** How much has arrived so far: 0 as soon as the person has confirmed. */
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * @throws PasskeyError or ApiError; the reason of `signal`; a TypeError when the download broke off
 */
export async function downloadAccount({ volumes, onBytes, signal }: AccountDownload): Promise<void> {
  const confirmation = await confirmWithPasskey('account.export');
  const [method = 'POST', path = ''] = shellRoutes['account.export'].split(' ');
  const response = await send(path, {
    method,
    signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ confirmation, volumes }),
  });
  onBytes(0);
  const [, name = 'account.tar.gz'] =
    /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  saveFile(await new Response(response.body?.pipeThrough(counting(onBytes))).blob(), name);
}

function counting(onBytes: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      onBytes(bytes);
      controller.enqueue(chunk);
    },
  });
}
