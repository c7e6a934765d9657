/**
 * Actions of the administration, performed by users of the portal in a running node: a merchant's
 * user acts within its merchant alone, and what needs the engine has this node's.
 */
import { randomUUIDv7 } from "node:crypto";
import { findAction } from "../administration/actions.ts";
import { perform, refuseUser } from "../administration/perform.ts";
import { readGiven } from "../administration/read-given.ts";
import { Report, type RunningNode } from "../administration/session.ts";
import type { PerformAction } from "../portal-api/perform.ts";
import type { RecordRefusal } from "../portal-api/route.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import type { IndexQueue } from "../storage/portal/index-queue.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { hasRight } from "../values/roles.ts";
import type { Resources } from "./resources.ts";
import type { Services } from "./services.ts";

type Dependencies = Resources & {
  readonly configuration: LiveConfiguration;
  readonly indexQueue: IndexQueue;
  readonly services: Services;
};

export function makePerformAction(
  dependencies: Dependencies,
  recordRefusal: RecordRefusal,
): PerformAction {
  const { config, database, cells, vault, masterKey, auditAs } = dependencies;
  const openKnown = async () => vault.openSecret;
  const opened = { config, database, cells, vault, masterKey, openKnown };
  const node = makeRunningNode(dependencies);
  return async (name, given, { actor, account, merchantId }, form = {}) => {
    const action = await findAction(name);
    if (action === undefined) throw new Error(`there is no action ${name}`);
    const values = readGiven(action, given);
    if (values instanceof Problem) return values;
    const place = {
      ...opened,
      actor,
      audit: auditAs(actor),
      auditAs: (by: Partial<typeof actor>) => auditAs({ ...actor, ...by }),
    };
    const user = { role: account.role, merchantId };
    const output = await perform(place, action, values, {
      reason: undefined,
      ...form,
      user,
      node,
      findings: makeFindings(),
      report: ignore,
      warn: ignore,
      confirm: async () => false,
      progress: () => ignore,
      async refuse(_, right) {
        if (!hasRight(account.role, right)) await recordRefusal(actor, `gw ${name}`, right);
        return refuseUser(place, action, values, { user, right });
      },
    });
    // The action of this name returns it.
    return (output instanceof Report ? output.value : output) as never;
  };
}

function ignore(): void {}

function makeRunningNode({
  clock,
  configuration,
  indexQueue,
  services,
}: Dependencies): RunningNode {
  return {
    now: clock.now,
    noteStep: (order) => indexQueue.onStep({ order }),
    async followUp(order, request) {
      const entryPoint = configuration.current().endpointById.get(order.endpointId);
      // As in the merchant interface: a disabled endpoint goes on, a disabled merchant does not.
      if (entryPoint?.merchant.enabled !== true) return new Failure("unknown_endpoint");
      const wanted = { clientOrderId: order.clientOrderId, orderId: order.id };
      const serialNumber = asSerialNumber(randomUUIDv7());
      return services.orders.followUp(entryPoint, { wanted, serialNumber, request });
    },
  };
}

function makeFindings() {
  let found = false;
  return {
    note() {
      found = true;
    },
    exist: () => found,
  };
}
