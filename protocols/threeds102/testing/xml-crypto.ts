/**
 * Uses xml-crypto, an independent program, to sign messages that ours must read, and to check what
 * ours reads.
 */
import { SignedXml } from "xml-crypto";
import { keys } from "../samples.ts";
import {
  canonicalForms,
  digestMethods,
  signatureMethods,
  signatureNamespace,
} from "../xml-signature.ts";

export type Wishes = {
  /** The prefix of the signature's elements. */
  readonly prefix?: string;
  readonly form?: keyof typeof canonicalForms;
  /** The form of the signed element. */
  readonly referenceForm?: keyof typeof canonicalForms;
  /** Prefixes that are declared as in the inclusive form, even if the form is exclusive. */
  readonly prefixes?: readonly string[];
};

/**
 * Signs a message. The digests differ on purpose: SHA-1 for the PARes, SHA-256 for the signed part.
 */
export function signByXmlCrypto(xml: string, wishes: Wishes = {}): string {
  const { prefix = "", form = "inclusive", referenceForm = "inclusive", prefixes } = wishes;
  const lists = prefixes === undefined ? {} : { inclusiveNamespacesPrefixList: [...prefixes] };
  const other = new SignedXml({
    privateKey: keys.signerKey,
    publicCert: keys.signer + keys.intermediate,
    signatureAlgorithm: signatureMethods.sha256,
    canonicalizationAlgorithm: canonicalForms[form],
    ...lists,
  });
  other.addReference({
    xpath: "//*[@id='PARes-1']",
    transforms: [canonicalForms[referenceForm]],
    digestAlgorithm: digestMethods.sha1,
    ...lists,
  });
  other.computeSignature(xml, { prefix, location: { reference: "//Message", action: "append" } });
  return other.getSignedXml();
}

/** Returns the signed text if xml-crypto finds that the only signature of the message is valid. */
export function verifyByXmlCrypto(xml: string, publicCert: string): string | undefined {
  try {
    const [signature, second] = findSignatures(xml);
    if (signature === undefined || second !== undefined) return undefined;
    const verifier = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
    verifier.loadSignature(signature);
    if (!verifier.checkSignature(xml)) return undefined;
    const [signed, other] = verifier.getSignedReferences();
    return other === undefined ? signed : undefined;
  } catch {
    return undefined;
  }
}

function findSignatures(xml: string): readonly string[] {
  return (xml.match(/<(?:\w+:)?Signature[\s>].*?<\/(?:\w+:)?Signature\s*>/gs) ?? []).filter(
    (text) => text.includes(signatureNamespace),
  );
}
