/**
 * The data of the examples in the documents: a merchant with one endpoint, one gate, a group and an
 * RSA key, and the time at which the clock stands still.
 */
import { createPublicKey } from "node:crypto";
import type { Endpoint, EntryPoint, Merchant } from "../../gateway/orders/merchant.ts";
import {
  asCardRefId,
  asEndpointId,
  asGateId,
  asGroupId,
  asMerchantId,
} from "../../gateway/values/ids.ts";
import { Secret } from "../../gateway/values/secret.ts";
import { asInstant, type Clock } from "../../gateway/values/time.ts";

/** A key for the documents, published with them. It protects nothing. */
export const privateKeyPem = `-----BEGIN RSA PRIVATE KEY-----
MIIEpAIBAAKCAQEAkZw9iCkGiwxutYb14DQ815k4iNX6ED4FkqVASATBWnkc8pvv
QpH7H7pJqrWfT05EZ0oWgZ5bkc479gFZEsICB5EqzMCAcVuBmURuZxn8g7T+tg80
oFoBso8YPD0lpp54nNqcK9c1UdrDdPJJTAPYk9BGT6SmRskr5qk/+Fg9tO0UiQp9
79vIIvv/QWzMo+yPlNHD8VNfOvHrhAyaqeA9H+FdoXqfEqHW2IGTjSuO2oO9t9N7
EkFJmjgfAelHSuJgU/riKBy4Wbl8OT4k7BcImajB4CG1+kOE6ibS4JTBysJc2xjs
BL4ETl7nhLuu7YYvO5EgNS456Jj4p1VJPNUkwwIDAQABAoIBADeWoakHHH/eDa/Q
Z7Khzq5ySLJ4mgA0ZVVAMCOuaRB8lzAJltRfvbK1oCUDNGAG3bdfAeuXBJdL1/lJ
N3OhTDwOT/wd64sbJ4VXKhzDP3MamHjxoiIramV8GoD4yRRsgFhFXwSforPuo9rU
GmZiO37mrsj97xqr904WRB0vttMIce31FwLYMudic9SkWIuOBXH9apWuYd0NZxJu
OUuMxhJYMAp4gQXSyOto5+Ru8qPDhBFakai+GSd2MAoaz5FlN1WMqwIlG0nkWT5d
iX1w80QRhiI+TcnpzBlLbUO412B4JLDSTnmZ0+PtMIlXn8ihIaXoPeDqtKdA6o6k
MsENB2UCgYEAxeiFcIiToc5+nj6hhHy6UfpVeBke1obOoF6/j4F8qoTsCpwI+W9b
I4TuhQyw7m87/N+qUUUn3uR+06FIuHEGk4wjqDmCwx//MQdO1kyxytBOEcoRMBrK
wcpO6vlsrKr4uD7e1S75Q0gZ1b4zmokBeCx/6i01bOOuu22inmVxTLUCgYEAvFng
r36hEDz+T3eXPBnOlfzOcXoXaHk1fWrVsJyhDO7ZFHn3OJJEdQrLvnqY5GdPBQ62
HpQdUkfBva/DXZY7djr5+98jv4Hl2ZzCYoobvh3H4cKJPW7iAOY2FfyHua1sl2Ve
Mzg3zDx2ft51HlH6lxf4YAGh3SFDGJA/efHzDpcCgYEAs7LsrwCkJFCuMZum5vil
6VfHkXQlxx7CsWU2xOQLQX3OIdgKYgqVk4vZU9/xK56+tl6UdJS5ni6VZi3VLPwb
v4+ItO/7ZpdADNGY6QbcjM5VhNuYfbhmEE5VGBCAd8wKaKlVhfbQCCKIqsa4boIm
Xmrxfr2r/AJEnxTuiqqLlN0CgYEAumEp0B87HAlvEY3irotO/OZ8FphdH3mJr8CP
EkP7rgOP9g42z9kVOshjEurX7nQ4ImYLWzjvxuLQ2XZamXo2/uifRFjrU+8jVnIj
fETz7O4lQ8Yv7gWSSJeFf74zRE5TPYEGdSK1PDm8fBB/znAKy4bhtYcH9/yZG25q
Ea6U+KMCgYBgPxUXMDirMD5ksM4WRsxnMXS6f3DLyGYAm42Gxy2LomqXtjJB9dcZ
G1UWL4gjgNKsK2X3NOgiDx4hZdPsQjOxVjKOvSjA18ssklImGHKobJUBPGhiAAPP
YaNgRAG5guFMV6mCPYGkJQIzwULdm5ZAz2RK9K5nr2Ai4N+NWtiKSA==
-----END RSA PRIVATE KEY-----
`;

export const baseUrl = "https://gateway.example";
export const controlKey = "B6C1FA06-4E44-4B3F-9D44-2E0C5A7F9D31";

const now = asInstant(Date.UTC(2027, 2, 14, 9, 26, 53));
export const clock: Clock = { now: () => now, after: () => () => undefined };

const merchant: Merchant = {
  id: asMerchantId("1"),
  login: "acme",
  name: "Acme",
  controlKey: new Secret(controlKey),
  enabled: true,
  cell: "main",
  oauthKeys: [{ id: "1", name: "", publicKey: createPublicKey(privateKeyPem) }],
  settings: {},
};

export const onlyEndpoint: Endpoint = {
  id: asEndpointId("1001"),
  merchant,
  name: "plain",
  currency: "USD",
  gates: [
    {
      id: asGateId("1"),
      name: "acquirer",
      rank: 1,
      weight: 1,
      descriptor: "ACME*ONLINE",
      shownDescriptor: "ACME*ONLINE",
      terminalId: "10000018",
      partialReversal: true,
      partialCapture: true,
      worksWithoutCvv: false,
      amountDigits: 12,
      payouts: {},
    },
  ],
  enabled: true,
  settings: { threeDSecure: "off", profiles: "on", payouts: true },
};

export const endpoint: EntryPoint = {
  id: onlyEndpoint.id,
  merchant,
  endpoints: [onlyEndpoint],
};
export const group: EntryPoint = { ...endpoint, id: asGroupId("1007") };

/** Returns the id of the gateway's first order, of its second, and so on. */
export function makeOrderId(count: number): string {
  return String(10_017_340 + count);
}

/** Returns the number from which the acquirer's references are made. */
export function makeSequence(count: number): number {
  return 590_336_171_002 + count;
}

/** The references that a registration of the sample card returns. */
export const references = {
  card: asCardRefId("7302946158017725431"),
  recurring: asCardRefId("5518203974410682937"),
  destination: asCardRefId("8860143527993204116"),
  destination_recurring: asCardRefId("4407719385260148592"),
} as const;

export const cardNumber = "4000001000000018";
