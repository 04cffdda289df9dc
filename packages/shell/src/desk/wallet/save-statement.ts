// Saves the statement of the wallet as a file of the person's.
import { addressOfCall, send } from '../../api/client.ts';
import { saveForApp } from '../downloads/save-for-app.ts';
import type { Asker } from '../prompts/ask.tsx';

/** @returns whether it was saved. @throws ApiError */
export async function saveStatement(asker: Asker, format: 'csv' | 'json'): Promise<boolean> {
  const response = await send(addressOfCall('wallet.export', { query: { format } }), { method: 'GET' });
  const day = new Date().toISOString().slice(0, 10);
  return saveForApp(asker, await response.blob(), `wallet-${day}.${format}`);
}
