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
import { makeNetworkMessage } from "./messages.ts";
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
  let tried = "";
  const links = new Links({
    wire: { ...dialect, ...makeGateAuthentication(dialect, macKeys, () => clock.now()) },
    settings: { ...settings, connections: 1 },
    conversation: { waiting: new Map(), answered: new Recent(1) },
    clock,
    limits: usualLinkLimits,
    random: Math.random,
    events: {
      onState(state: LinkState, { why, address }: LinkFacts): void {
        tried = address;
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
  return { links, opened, address: () => tried, unread: () => unread };
}

type Tested = { readonly address: string; readonly echoMs: number };

/** Connects, signs on and asks for a sign of life. */
export async function testGate(
  gate: ConfiguredGate,
  clock: Clock,
  timeoutMs: number,
): Promise<Tested | Problem> {
  const { links, opened, address, unread } = openOwnLink(gate, clock);
  try {
    const problem = await opened;
    if (problem !== undefined) return problem;
    const { network, codes } = dialects[gate.kind];
    const at = clock.now();
    const zone = gate.settings.zone ?? "UTC";
    const message = makeNetworkMessage(network, network.codes.echo, "900001", { at, zone });
    const answer = await links.send(message, { timeoutMs });
    const code = typeof answer === "string" ? answer : `39 is ${answer.fields[39]}`;
    if (code !== `39 is ${codes.networkAccepted}`) {
      return new Problem(`The host at ${address()} did not accept the echo: ${code}${unread()}.`);
    }
    return { address: address(), echoMs: clock.now() - at };
  } finally {
    await links.close();
  }
}
