// Versions and ciphers of TLS towards clients: those of Mozilla's intermediate profile, which every browser and client
// library of the last ten years speaks. All give forward secrecy and authenticate what they encrypt.
import { constants } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';

const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
];

export const SECURE_CONTEXT: SecureContextOptions = {
  minVersion: 'TLSv1.2',
  ciphers: CIPHERS.join(':'),
  // All are good, so the client chooses what its processor does best.
  honorCipherOrder: false,
  // HTTP/2 forbids renegotiation, and it is work that clients cause.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
};
