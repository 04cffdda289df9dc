// What tests look up in a homeserver's database.
import type { Synapse } from './synapse.ts';

export const holdsEvent = async ({ database }: Synapse, eventId: string): Promise<boolean> =>
  (await database.rows('SELECT 1 FROM events WHERE event_id = ?', eventId)).length > 0;

/** Of its own users also where the server is not in the room, as with invitations. */
export async function membershipOf({ database, serverName }: Synapse, room: string, userId: string): Promise<unknown> {
  const [table, user] = userId.endsWith(`:${serverName}`)
    ? ['local_current_membership', 'user_id']
    : ['current_state_events', 'state_key'];
  const sql = `SELECT membership FROM ${table} WHERE room_id = ? AND ${user} = ?`;
  return (await database.rows(sql, room, userId))[0]?.membership;
}

/** By which key an event is encrypted. */
export async function sessionOf({ database }: Synapse, eventId: string): Promise<string> {
  const [row] = await database.rows('SELECT json FROM event_json WHERE event_id = ?', eventId);
  const { content } = JSON.parse(String(row?.json)) as { content: { session_id: string } };
  return content.session_id;
}

/** What of a homeserver's database is not as it has to be: messages without encryption, or a text that was encrypted. */
export async function holdsEncryptedAlone({ serverName, database }: Synapse, text: string): Promise<string[]> {
  const jsonOf = (type: string) =>
    database.rows('SELECT json FROM events JOIN event_json USING (event_id) WHERE type = ?', type);
  const wrong: string[] = [];
  if ((await jsonOf('m.room.encrypted')).length === 0) wrong.push(`${serverName} holds no encrypted message`);
  // Reactions are never encrypted, and matrix-js-sdk does not encrypt what compares keys.
  const plain = (await jsonOf('m.room.message')).map(({ json }) => String(json));
  wrong.push(...plain.filter((json) => !json.includes('"m.key.verification.request"')));
  if (await database.holds(text)) wrong.push(`${serverName} holds “${text}”`);
  return wrong;
}
