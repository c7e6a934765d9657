/** P-256 public keys in the two forms that the wallet uses; a point off the curve is none. */
import { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject } from "node:crypto";
import { curve, pointBytes } from "./token.ts";

/** From SPKI in DER. */
export function readPublicKey(der: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === curve ? key : undefined;
  } catch {
    return undefined;
  }
}

/** From the uncompressed point: 04, x, y. */
export function readPoint(point: Buffer): KeyObject | undefined {
  if (point.length !== pointBytes || point[0] !== 4) return undefined;
  const [x, y] = [point.subarray(1, 33), point.subarray(33)];
  const jwk = { kty: "EC", crv: "P-256", x: x.toString("base64url"), y: y.toString("base64url") };
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    return undefined;
  }
}

export function writePublicKey(key: KeyObject): Buffer {
  return key.export({ format: "der", type: "spki" });
}

/** The point is what SPKI ends with. */
export function writePoint(key: KeyObject): Buffer {
  return Buffer.from(writePublicKey(key).subarray(-pointBytes));
}
