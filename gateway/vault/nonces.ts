/**
 * Random bytes for nonces and ids. The system is asked for many at once: a call for twelve bytes
 * costs as much as one for thousands. Bytes are handed out once and wiped.
 */
import { randomFillSync } from "node:crypto";

const pool = Buffer.allocUnsafeSlow(8192);
let next = pool.length;

export function takeRandom(count: number): Buffer {
  if (next + count > pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const taken = Buffer.from(pool.subarray(next, next + count));
  pool.fill(0, next, next + count);
  next += count;
  return taken;
}
