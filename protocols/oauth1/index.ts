/**
 * OAuth 1.0a (RFC 5849) for one signature method, RSA-SHA256: RSASSA-PKCS1-v1_5 over SHA-256,
 * which the RFC itself does not have. Two-legged: a consumer and its keys, no tokens.
 */
export { type Authorization, parseAuthorization } from "./authorization.ts";
export { authorize, type Credentials } from "./authorize.ts";
export { OAuthFault } from "./oauth-fault.ts";
export { readPrivateKey, readPublicKey, sign, verify } from "./signature.ts";
export {
  makeSignedText,
  normalizeParameters,
  type OAuthRequest,
  type Parameter,
} from "./signed-text.ts";
