// Encryption of one message for one browser: `aes128gcm` of RFC 8188 with the keys of RFC 8291, one record.
import webPush from 'web-push';
import type { PushAddress } from './push-address.ts';

export function encryptFor({ p256dh, auth }: Pick<PushAddress, 'p256dh' | 'auth'>, plain: Buffer): Buffer {
  return webPush.encrypt(p256dh, auth, plain, 'aes128gcm').cipherText;
}
