/** Formats the values of gates and directory servers that tables show. */
import type { Row } from "../actions/values.ts";
import type { OutputOf } from "../shell/call.ts";

export type GateLine = OutputOf<"GET /gates">["gates"][number];
type Colour = "approved" | "filtered" | "declined";

/** A gate without links is an alarm, and a gate with fewer links than wanted is a warning. */
export function linkColour({ up, wanted }: Pick<GateLine, "up" | "wanted">): Colour {
  return up === 0 ? "declined" : up < wanted ? "filtered" : "approved";
}

export function healthColour({ health }: Pick<GateLine, "health">): Colour {
  if (health === "unhealthy") return "declined";
  return health === "weakened" ? "filtered" : "approved";
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

/** Describes whether a directory server's certificates can be used, or why not. */
export function filesOf({ files = "" }: Row, good: string): readonly [Colour, text: string] {
  return files === "good" ? ["approved", good] : ["declined", files];
}

/** Returns the address for EMV 3-D Secure, or else the address for 3-D Secure 1.0.2. */
export function addressOf({ url = "", url102 = "" }: Row): string {
  return url === "none" ? url102 : url;
}

/** Without a zone key, which encrypts new keys, a gate and its host cannot exchange keys. */
export function keyActionsFor(hasZoneKey: boolean) {
  const always = ["gate mac-key set", "gate mac-key zone"] as const;
  const withZoneKey = ["gate mac-key exchange", "gate mac-key drop-zone"] as const;
  if (!hasZoneKey) return always;
  return [...always, ...withZoneKey];
}
