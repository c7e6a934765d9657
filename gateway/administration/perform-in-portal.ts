/**
 * What a running node has of the administration for its portal. The forms' actions and the printing
 * of settings are loaded when a user first needs them. Actions of the portal's own screens have the
 * node's engine: a merchant's user acts within that merchant alone.
 */
import { randomUUIDv7 } from "node:crypto";
import type { FollowUps } from "../engine/accept.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { PerformAction } from "../portal-api/perform.ts";
import type { RecordRefusal } from "../portal-api/route.ts";
import type { Actor, Audit } from "../storage/people/audit.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber, type EndpointId } from "../values/ids.ts";
import { NotAllowed, Problem } from "../values/problem.ts";
import { findAction } from "./actions.ts";
import { makePortalFace, perform, refuseRole, refuseSubject } from "./perform.ts";
import type { PortalActions } from "./portal-requests.ts";
import { readGiven } from "./read-given.ts";
import { type Opened, Report, type RunningNode } from "./session.ts";

/** The forms' actions use the connections of the login that started the node, as `gw` does. */
export function makeLoadActions(opened: Opened | undefined): () => Promise<PortalActions> {
  let actions: Promise<PortalActions> | undefined;
  return () => {
    actions ??= loadActions(opened);
    return actions;
  };
}

async function loadActions(opened: Opened | undefined): Promise<PortalActions> {
  if (opened === undefined) throw new Error("this node was started without an installation");
  const { makePortalActions } = await import("./portal-requests.ts");
  return makePortalActions(opened);
}

type Dependencies = {
  readonly opened: Omit<Opened, "actor" | "audit" | "auditAs">;
  readonly auditAs: (actor: Actor) => Audit;
  readonly node: NodeParts;
  readonly recordRefusal: RecordRefusal;
};

export function makePerformInPortal(dependencies: Dependencies): PerformAction {
  const { opened, auditAs, recordRefusal } = dependencies;
  const node = makeRunningNode(dependencies.node);
  return async (name, given, { actor, account, merchantId }, form = {}) => {
    const action = await findAction(name);
    if (action === undefined) throw new Error(`there is no action ${name}`);
    const values = readGiven(action, given);
    if (values instanceof Problem) return values;
    const place = {
      ...opened,
      actor,
      audit: auditAs(actor),
      auditAs: (by: Partial<Actor>) => auditAs({ ...actor, ...by }),
    };
    const user = { role: account.role, merchantId };
    const output = await perform(place, action, values, {
      reason: undefined,
      ...form,
      ...makePortalFace(user),
      node,
      refuse: async (_, right) =>
        refuseRole(user.role, right) ?? refuseSubject(place, action, values, user),
    });
    if (output instanceof NotAllowed) await recordRefusal(actor, `gw ${name}`, output.right);
    // The action of this name returns it.
    return (output instanceof Report ? output.value : output) as never;
  };
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
      // The merchant interface has the same rule: a disabled endpoint goes on, a disabled merchant
      // does not.
      if (entryPoint?.merchant.enabled !== true) return new Failure("unknown_endpoint");
      const wanted = { clientOrderId: order.clientOrderId, orderId: order.id };
      const serialNumber = asSerialNumber(randomUUIDv7());
      return parts.followUp(entryPoint, { wanted, serialNumber, request });
    },
  };
}
