/** xml-crypto, an independent program: it signs what ours must read, and checks what ours reads. */
import { SignedXml } from "xml-crypto";
import { keys } from "../samples.ts";
import {
  canonicalForms,
  digestMethods,
  signatureMethods,
  signatureNamespace,
} from "../xml-signature.ts";

export type Wishes = {
  /** Of the elements of the signature. */
  readonly prefix?: string;
  readonly form?: keyof typeof canonicalForms;
  /** The form of what is signed. */
  readonly referenceForm?: keyof typeof canonicalForms;
  /** Declared as in the inclusive form, also when the form is exclusive. */
  readonly prefixes?: readonly string[];
};

/** Its digests differ on purpose: SHA-1 of the PARes, SHA-256 of what is signed. */
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

/** The signed text, when xml-crypto finds the only signature of the message to hold. */
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
