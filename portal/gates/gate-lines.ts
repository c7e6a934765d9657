/** Formats gates and directory servers for their tables. */
import type { Row } from "../actions/values.ts";
import type { OutputOf } from "../shell/call.ts";

export type GateLine = OutputOf<"GET /gates">["gates"][number];
type Colour = "approved" | "filtered" | "declined";

/**
 * Returns the colour of a gate's links: an alarm without any link, and a warning with fewer links
 * than wanted.
 */
export function linkColour({ up, wanted }: Pick<GateLine, "up" | "wanted">): Colour {
  return up === 0 ? "declined" : up < wanted ? "filtered" : "approved";
}

export function currenciesOf(
  { currencies }: Pick<GateLine, "currencies">,
  everyCurrency: string,
): string {
  return currencies.join(", ") || everyCurrency;
}

export function hostOf({ host, tls }: Pick<GateLine, "host" | "tls">): string {
  return tls ? `${host} TLS` : host;
}

/** Returns the state of a directory server's certificates: usable, or the reason why not. */
export function filesOf({ files = "" }: Row, good: string): readonly [Colour, text: string] {
  return files === "good" ? ["approved", good] : ["declined", files];
}

/**
 * Returns the address for EMV 3-D Secure, or the one for 3-D Secure 1.0.2 if the server has no
 * other.
 */
export function addressOf({ url = "", url102 = "" }: Row): string {
  return url === "none" ? url102 : url;
}

/** Returns the actions on a gate's keys. Keys are exchanged with the host only under a zone key. */
export function keyActionsFor(hasZoneKey: boolean) {
  const always = ["gate mac-key set", "gate mac-key zone"] as const;
  const withZoneKey = ["gate mac-key exchange", "gate mac-key drop-zone"] as const;
  if (!hasZoneKey) return always;
  return [...always, ...withZoneKey];
}
