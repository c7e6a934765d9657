/**
 * The sample merchant's RSA key and what it signs by OAuth. The key was made for the documents and
 * is published with them: it protects nothing.
 */
import { createPrivateKey, createPublicKey } from "node:crypto";
import { OAuthFault, signRequest } from "@tollgate/protocols/oauth1";

export const samplePrivateKeyPem = `-----BEGIN RSA PRIVATE KEY-----
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

export const samplePublicKey = createPublicKey(samplePrivateKeyPem);
const privateKey = createPrivateKey(samplePrivateKeyPem);

export type SampleRequest = {
  readonly method: "POST";
  readonly url: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
};

export type SampleSigner = {
  readonly consumerKey: string;
  readonly nonce: string;
  readonly timestamp: number;
};

/** The Authorization header of a sample request. */
export function authorizeSample(request: SampleRequest, signer: SampleSigner): string {
  const header = signRequest(request, { ...signer, privateKey });
  if (header instanceof OAuthFault) throw new Error(`No sample is signed: ${header.reason}.`);
  return header;
}
