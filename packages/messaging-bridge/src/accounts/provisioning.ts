// Makes an account known to the homeserver, with one device whose keys are published. Every step can be repeated, so a crash
// in between is none.
import type { MessagingBridgeSubject } from '@platform/contract';
import { OperationError } from '../failure.ts';
import { type As, type Homeserver, MatrixError, saysNotThere, serverOf } from '../matrix/homeserver.ts';
import { anything, devicesAnswer } from '../matrix/shapes.ts';
import type { Card, Cards } from '../store/cards.ts';
import type { Account } from './account.ts';

/** What people see of the device in their lists. */
const DEVICE_NAME = 'Platform';
/** It declines invitations one by one, at other servers. What is not done by then goes on. */
const DEACTIVATION_MS = 35_000;

/**
 * The card of an account, which is made where there is none, or where its store is gone: that is a new device.
 *
 * @throws OperationError `conflict` where the transport's account is bound to another one
 */
export async function requireCard(
  cards: Cards,
  { accountId, transportUserId: userId }: MessagingBridgeSubject,
  serverName: string,
): Promise<Card> {
  if (serverOf(userId) !== serverName)
    throw new OperationError('conflict', `The homeserver is ${serverName}, and ${userId} is of another one.`);
  const card = cards.of(accountId);
  const bound = cards.ofUser(userId);
  if ((card !== undefined && card.userId !== userId) || (bound !== undefined && bound.accountId !== accountId))
    throw new OperationError('conflict', `${userId} is bound to another account.`);
  if (card === undefined) return cards.make({ accountId, userId, isReplacement: false });
  return card.ready && !cards.hasStore(card) ? cards.make({ accountId, userId, isReplacement: true }) : card;
}

/** Registers the account and its device. @returns whether there was another device, whose store is lost */
export async function register(homeserver: Homeserver, card: Card, name: string): Promise<boolean> {
  const as: As = { userId: card.userId };
  const client = ['_matrix', 'client', 'v3'];
  const username = card.userId.slice(1, card.userId.indexOf(':'));
  await homeserver
    .request(null, {
      method: 'POST',
      path: [...client, 'register'],
      body: { type: 'm.login.application_service', username, inhibit_login: true },
      answer: anything,
    })
    .catch((error: unknown) => {
      if (!(error instanceof MatrixError && error.code === 'M_USER_IN_USE')) throw error;
    });
  const { devices } = await homeserver.request(as, {
    method: 'GET',
    path: [...client, 'devices'],
    answer: devicesAnswer,
  });
  const others = devices.filter(({ device_id }) => device_id !== card.deviceId);
  for (const { device_id } of others)
    await homeserver.request(as, {
      method: 'DELETE',
      path: [...client, 'devices', device_id],
      body: {},
      answer: anything,
    });
  // Once: each time is news to everybody who shares a room with the account.
  if (others.length === devices.length)
    await homeserver.request(as, {
      method: 'PUT',
      path: [...client, 'devices', card.deviceId],
      body: { display_name: DEVICE_NAME },
      answer: anything,
    });
  // A look-up of other servers never asks the application service.
  await homeserver.request(as, {
    method: 'PUT',
    path: [...client, 'profile', card.userId, 'displayname'],
    body: { displayname: name },
    answer: anything,
  });
  return others.length > 0;
}

/** Publishes the keys of a device that is registered. */
export async function publishKeys({ machine, book, store }: Account, isReplacement: boolean): Promise<void> {
  if (isReplacement) book.meta.set('replacement', 'yes');
  await store.commit();
  await machine.talk();
  await machine.crossSign();
}

/**
 * Ends the account at the homeserver: its devices are gone, it is in no room, its invitations are declined, and its name is never
 * given again. Can be repeated.
 */
export async function deactivate(homeserver: Homeserver, userId: string): Promise<void> {
  await homeserver
    .request(
      { userId },
      {
        method: 'POST',
        path: ['_matrix', 'client', 'v3', 'account', 'deactivate'],
        body: { erase: true },
        answer: anything,
        patience: DEACTIVATION_MS,
        asksOthers: true,
      },
    )
    .catch(async (error: unknown) => {
      // Of somebody whom it does not know the homeserver refuses everything, as it does where the registration is another one.
      if (!saysNotThere(error) || (await hasProfile(homeserver, userId))) throw error;
    });
}

/** Whether anybody has a name: the homeserver knows its own. @throws MatrixError, HomeserverGoneError where it does not say */
async function hasProfile(homeserver: Homeserver, userId: string): Promise<boolean> {
  const path = ['_matrix', 'client', 'v3', 'profile', userId];
  try {
    await homeserver.request(null, { method: 'GET', path, answer: anything });
    return true;
  } catch (error) {
    if (error instanceof MatrixError && error.code === 'M_NOT_FOUND') return false;
    throw error;
  }
}
