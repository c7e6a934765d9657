/**
 * OAuth 1.0a (RFC 5849) for one signature method, RSA-SHA256, which the RFC itself does not define.
 * Two-legged: a consumer and its keys, no tokens.
 */
export { type Credentials, type OAuthHeader, parseOAuthHeader, signRequest } from "./header.ts";
export {
  makeBaseString,
  normalizeParameters,
  OAuthFault,
  type OAuthRequest,
  type Parameter,
  readRsaPrivateKey,
  verify,
} from "./signature.ts";
