/**
 * A connection to a gate's host that a command opens for itself: the links of running nodes are
 * left alone.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { Problem } from "../../values/problem.ts";
import type { Clock } from "../../values/time.ts";
import { addressesOf, type ConfiguredGate } from "../gates.ts";
import { dialects } from "./connector.ts";
import { type LinkState, usualLinkLimits } from "./link.ts";
import { type LinkFacts, Links } from "./links.ts";
import { makeGateAuthentication } from "./message-authentication.ts";
import { Recent } from "./pending-answers.ts";

/** `opened` resolves when the link is up, or with the problem when no address has accepted it. */
export function openOwnLink(
  { kind, settings, macKeys }: ConfiguredGate,
  clock: Clock,
  onRequest: (request: IsoMessage) => Promise<IsoMessage | undefined> = async () => undefined,
) {
  const dialect = dialects[kind];
  const { promise: opened, resolve } = Promise.withResolvers<Problem | undefined>();
  let failures = 0;
  let unread = "";
  const links = new Links({
    wire: { ...dialect, ...makeGateAuthentication(dialect, macKeys, () => clock.now()) },
    settings: { ...settings, connections: 1 },
    conversation: { waiting: new Map(), answered: new Recent(1) },
    ...{ clock, limits: usualLinkLimits, random: Math.random },
    events: {
      onState(state: LinkState, { why, address }: LinkFacts): void {
        if (state === "down") failures += 1;
        if (failures < addressesOf(settings).length) return;
        resolve(new Problem(`The host at ${address} cannot be asked: ${why}${unread}.`));
      },
      onReady: () => resolve(undefined),
      onCertificateFault: () => undefined,
      onCertificateExpiring: () => undefined,
      onUnmatched: () => undefined,
      onRequest,
      onUnreadable({ reason }): void {
        unread = ` (an answer could not be read: ${reason})`;
      },
    },
  });
  links.open();
  return { links, opened, unread: () => unread };
}
