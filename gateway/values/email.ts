/** Email addresses, read in one way by the API, the payment page, lists and counters. */
import { domainToASCII } from "node:url";

const localSyntax = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const domainSyntax =
  /^(?=.{3,253}$)(?!.*\.\d+$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;

/**
 * Returns the address with its domain in ASCII, or undefined if the text is not an address. The
 * domain may be in letters of any script; a final dot is refused.
 */
export function parseEmail(text: string): string | undefined {
  const at = text.lastIndexOf("@");
  const [local, domain] = [text.slice(0, Math.max(at, 0)), parseDomain(text.slice(at + 1))];
  return localSyntax.test(local) && domain !== undefined ? `${local}@${domain}` : undefined;
}

/** Returns the domain in ASCII, or undefined if the text is not a domain of two labels or more. */
export function parseDomain(text: string): string | undefined {
  // `domainToASCII` drops these characters, or what follows them, instead of refusing them.
  if (/[\s\p{C}%/\\?#]/u.test(text)) return undefined;
  const ascii = domainToASCII(text);
  return domainSyntax.test(ascii) ? ascii : undefined;
}

/** Normalises an address for comparisons. Case does not matter, while dots and tags do. */
export function foldEmail(email: string): string {
  return (parseEmail(email.trim()) ?? email.trim()).toLowerCase();
}
