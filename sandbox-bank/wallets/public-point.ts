/** A public key of P-256 as its bare point, which is how merchants name theirs to walletb. */
import { createPublicKey, type KeyObject } from "node:crypto";

const pointBytes = 65;

/** From base64; nothing when it is no uncompressed point of the curve. */
export function readPoint(base64: string): KeyObject | undefined {
  const point = Buffer.from(base64, "base64");
  // Written back, because a reader of base64 overlooks whatever is none.
  if (point.length !== pointBytes || point[0] !== 4 || point.toString("base64") !== base64) {
    return undefined;
  }
  const [x, y] = [point.subarray(1, 33), point.subarray(33)];
  const jwk = { kty: "EC", crv: "P-256", x: x.toString("base64url"), y: y.toString("base64url") };
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    return undefined;
  }
}
