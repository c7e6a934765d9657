/**
 * Who hears a callback, however the merchant spells the address: one host and port, so that a
 * receiver gets its places once.
 */
export function receiverOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "";
  // A name means the same with its last dot.
  const name = parsed.hostname.toLowerCase().replace(/\.$/, "");
  return parsed.port === "" ? name : `${name}:${parsed.port}`;
}
