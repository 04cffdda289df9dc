// Which 32 bytes are a usable Ed25519 public key (RFC 8032, section 5.1.3). Node imports any 32 bytes. Under a point of
// small order one signature, made without a private key, is right for many messages unless the
// verifier looks for that; under bytes that are no point none ever is.

const P = 2n ** 255n - 19n;
/** The curve is -x² + y² = 1 + dx²y². */
const D = 37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n;
/** y of the eight points whose order divides the cofactor; each stands for both signs of x. */
const SMALL_ORDER: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  P - 1n,
  2_707_385_501_144_840_649_318_225_287_225_658_788_936_804_267_575_313_519_463_743_609_750_303_402_022n,
  55_188_659_117_513_257_062_467_267_217_118_295_137_698_188_065_244_968_500_265_048_394_206_261_417_927n,
]);

/** Whether the bytes are the canonical encoding of a point of the curve that has not a small order. */
export function isUsablePoint(encoded: Uint8Array): boolean {
  if (encoded.length !== 32) return false;
  // Little-endian; the highest bit is the sign of x.
  const y = BigInt(`0x${Buffer.from(encoded).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  if (y >= P || SMALL_ORDER.has(y)) return false;
  // x² = (y² - 1) / (dy² + 1); the divisor is never 0, and multiplying by its square does not change what is a square.
  const square = y * y;
  return isSquare(((square - 1n) * (D * square + 1n)) % P);
}

/** Euler's criterion. The value comes from a public key, so it may take as long as it depends on it. */
function isSquare(value: bigint): boolean {
  let result = 1n;
  let base = value;
  for (let exponent = (P - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result <= 1n;
}
