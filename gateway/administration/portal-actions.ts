/**
 * Provides the actions of the administration to the portal of a running node. Actions and the
 * printing of settings are loaded when a user first needs them. An action uses the connections of
 * the login that started the node, as `gw` does, and the node's engine.
 */
import { randomUUIDv7 } from "node:crypto";
import type { FollowUps } from "../engine/accept.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber, type EndpointId } from "../values/ids.ts";
import type { PortalActions } from "./portal-requests.ts";
import type { Opened, RunningNode } from "./session.ts";

export function makeLoadActions(
  opened: Opened | undefined,
  node: NodeParts,
): () => Promise<PortalActions> {
  let actions: Promise<PortalActions> | undefined;
  return () => {
    actions ??= loadActions(opened, node);
    return actions;
  };
}

async function loadActions(opened: Opened | undefined, node: NodeParts): Promise<PortalActions> {
  if (opened === undefined) throw new Error("this node was started without an installation");
  const { makePortalActions } = await import("./portal-requests.ts");
  return makePortalActions(opened, makeRunningNode(node));
}

type NodeParts = Pick<RunningNode, "now" | "noteStep"> & {
  readonly findEntryPoint: (endpoint: EndpointId) => EntryPoint | undefined;
  readonly followUp: (
    ...given: Parameters<FollowUps["followUp"]>
  ) => Promise<Awaited<ReturnType<FollowUps["followUp"]>> | Failure>;
};

function makeRunningNode({ now, noteStep, ...parts }: NodeParts): RunningNode {
  return {
    now,
    noteStep,
    async followUp(order, request) {
      const entryPoint = parts.findEntryPoint(order.endpointId);
      // A follow-up of an order is accepted if its endpoint is disabled, and refused if its
      // merchant is disabled. The merchant interface does the same.
      if (entryPoint?.merchant.enabled !== true) return new Failure("unknown_endpoint");
      const wanted = { clientOrderId: order.clientOrderId, orderId: order.id };
      const serialNumber = asSerialNumber(randomUUIDv7());
      return parts.followUp(entryPoint, { wanted, serialNumber, request });
    },
  };
}
