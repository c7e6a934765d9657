/** Formats the values of gates and directory servers that tables show. */
import type { Row } from "../actions/values.ts";
import type { OutputOf } from "../shell/call.ts";

export type GateLine = OutputOf<"GET /gates">["gates"][number];
type Colour = "approved" | "filtered" | "declined";

/** No link is an alarm, and fewer links than wanted are a warning. */
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

/** The text says whether a directory server's certificates can be used, or why not. */
export function filesOf({ files = "" }: Row, good: string): readonly [Colour, text: string] {
  return files === "good" ? ["approved", good] : ["declined", files];
}

/** The address for EMV 3-D Secure, or else that for 3-D Secure 1.0.2. */
export function addressOf({ url = "", url102 = "" }: Row): string {
  return url === "none" ? url102 : url;
}

/** A gate and its host exchange new keys only under the gate's zone key, which encrypts them. */
export function keyActionsFor(hasZoneKey: boolean) {
  const always = ["gate mac-key set", "gate mac-key zone"] as const;
  const withZoneKey = ["gate mac-key exchange", "gate mac-key drop-zone"] as const;
  if (!hasZoneKey) return always;
  return [...always, ...withZoneKey];
}
