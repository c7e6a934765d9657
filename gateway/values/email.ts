/** Email addresses, read in one way by the API, the payment page, lists and counters. */
import { domainToASCII } from "node:url";

const localSyntax = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const domainSyntax =
  /^(?=.{3,253}$)(?!.*\.\d+$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;

/** The domain may be in letters of any script, and is returned in ASCII. A final dot is refused. */
export function parseEmail(text: string): string | undefined {
  const at = text.lastIndexOf("@");
  const [local, domain] = [text.slice(0, Math.max(at, 0)), parseDomain(text.slice(at + 1))];
  return localSyntax.test(local) && domain !== undefined ? `${local}@${domain}` : undefined;
}

/** Returns the domain in ASCII. It has two labels or more. */
export function parseDomain(text: string): string | undefined {
  // `domainToASCII` drops these characters, or what follows them, instead of refusing them.
  if (/[\s\p{C}%/\\?#]/u.test(text)) return undefined;
  const ascii = domainToASCII(text);
  return domainSyntax.test(ascii) ? ascii : undefined;
}

/** Case does not matter in comparisons, while dots and tags do. */
export function foldEmail(email: string): string {
  return (parseEmail(email.trim()) ?? email.trim()).toLowerCase();
}
