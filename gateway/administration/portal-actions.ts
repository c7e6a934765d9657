/**
 * Provides the actions of the administration to the portal of a running node. Actions and the
 * printing of settings are loaded when a user first needs them. An action uses the node's engine
 * and, as `gw` does, the database connections of the login that started the node.
 */
import { randomUUIDv7 } from "node:crypto";
import type { CallbackRequest, DeliveryAttempt } from "../callbacks/callback.ts";
import type { FollowUps } from "../engine/accept.ts";
import { makeRateLimit } from "../http/bounds.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber, type EndpointId, type MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
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
  readonly sendCallback: (message: CallbackRequest) => Promise<DeliveryAttempt>;
};

function makeRunningNode({ now, noteStep, ...parts }: NodeParts): RunningNode {
  return {
    now,
    noteStep,
    sendTest: makeSendTest({ now, ...parts }),
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

/** How many test callbacks a node sends at a time. */
const testsAtOnceMax = 4;
/**
 * The limit on test callbacks of each merchant's users, and of all operators. It is enough for
 * people at a screen, and far too low to search a network for hosts.
 */
const tests = { perSecond: 0.1, burst: 10 };

/** Sends test callbacks with the node's own callback worker, beside the callbacks of orders. */
function makeSendTest({ now, sendCallback }: Pick<NodeParts, "now" | "sendCallback">) {
  const limit = makeRateLimit<MerchantId | undefined>(tests, { now });
  let running = 0;
  return async (message: CallbackRequest, merchant: MerchantId | undefined) => {
    if (running >= testsAtOnceMax) return new Problem("Other test callbacks are being sent.");
    if (limit.take(merchant) > 0) return new Problem("That was a lot of tests: wait a minute.");
    running += 1;
    return sendCallback(message).finally(() => {
      running -= 1;
    });
  };
}
