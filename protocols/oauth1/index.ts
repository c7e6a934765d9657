/**
 * OAuth 1.0a (RFC 5849) for one signature method, RSA-SHA256: RSASSA-PKCS1-v1_5 over SHA-256,
 * which the RFC itself does not have. Two-legged: a consumer and its keys, no tokens.
 */
export {
  type Authorization,
  parseAuthorization,
  parseAuthorization as parseOAuthHeader,
} from "./authorization.ts";
export { authorize, authorize as signRequest, type Credentials } from "./authorize.ts";
export { OAuthFault } from "./oauth-fault.ts";
export {
  readPrivateKey,
  readPrivateKey as readRsaPrivateKey,
  readPublicKey,
  readPublicKey as readRsaPublicKey,
  sign,
  verify,
} from "./signature.ts";
export {
  makeSignedText,
  makeSignedText as makeBaseString,
  normalizeParameters,
  type OAuthRequest,
  type Parameter,
} from "./signed-text.ts";
