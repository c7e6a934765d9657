/**
 * Actions that the portal's own screens perform in a running node: a merchant's user acts within
 * that merchant alone, and what needs the engine has this node's.
 */
import { randomUUIDv7 } from "node:crypto";
import type { FollowUp } from "../engine/accept.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { PerformAction } from "../portal-api/perform.ts";
import type { RecordRefusal } from "../portal-api/route.ts";
import type { Actor, Audit } from "../storage/people/audit.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber, type EndpointId } from "../values/ids.ts";
import { NotAllowed, Problem } from "../values/problem.ts";
import { findAction } from "./actions.ts";
import { makePortalFace, perform, refuseRole, refuseSubject } from "./perform.ts";
import { readGiven } from "./read-given.ts";
import { type Opened, Report, type RunningNode } from "./session.ts";

type Dependencies = {
  readonly opened: Omit<Opened, "actor" | "audit" | "auditAs">;
  readonly auditAs: (actor: Actor) => Audit;
  readonly node: RunningNode;
  readonly recordRefusal: RecordRefusal;
};

export function makePerformInPortal(dependencies: Dependencies): PerformAction {
  const { opened, auditAs, node, recordRefusal } = dependencies;
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
    ...given: Parameters<FollowUp>
  ) => Promise<Awaited<ReturnType<FollowUp>> | Failure>;
};

export function makeRunningNode({ now, noteStep, ...parts }: NodeParts): RunningNode {
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
