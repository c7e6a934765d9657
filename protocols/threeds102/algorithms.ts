/**
 * The algorithms of a PARes signature, and no others. SHA-1 is what live ACSs signed with, and it
 * is taken in this one place only.
 */

export const signatureNamespace = "http://www.w3.org/2000/09/xmldsig#";
export const canonicalization = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";

export type Digest = "sha1" | "sha256";

// biome-ignore format: a table
export const digestMethods: Readonly<Record<Digest, string>> = {
  sha1:   "http://www.w3.org/2000/09/xmldsig#sha1",
  sha256: "http://www.w3.org/2001/04/xmlenc#sha256",
};

// biome-ignore format: a table
export const signatureMethods: Readonly<Record<Digest, string>> = {
  sha1:   "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
  sha256: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
};
