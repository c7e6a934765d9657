/** Object identifiers that the wallet's certificates and signatures are told by. */

/** Extension of the certificate that signs tokens. */
export const leafMarker = "1.2.840.113635.100.6.29";
/** Extension of the certificate that issued the leaf. */
export const intermediateMarker = "1.2.840.113635.100.6.2.14";
/** Extension of a merchant's certificate: a UTF8String, the identifier's SHA-256 in hex. */
export const merchantIdentifierExtension = "1.2.840.113635.100.6.32";

// biome-ignore format: a table
export const identifiers = {
  plainContent:  "1.2.840.113549.1.7.1",
  signedContent: "1.2.840.113549.1.7.2",
  contentType:   "1.2.840.113549.1.9.3",
  messageDigest: "1.2.840.113549.1.9.4",
  signingTime:   "1.2.840.113549.1.9.5",
  sha256:        "2.16.840.1.101.3.4.2.1",
  ecdsaSha256:   "1.2.840.10045.4.3.2",
  rsa:           "1.2.840.113549.1.1.1",
  rsaSha256:     "1.2.840.113549.1.1.11",
  commonName:    "2.5.4.3",
} as const;
