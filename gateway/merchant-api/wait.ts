/**
 * The synchronous twin of an operation: does the same, then waits for the result and answers with
 * the status. When there is no result in time, the status says how far it is.
 */
import { Failure } from "../values/failure.ts";
import type { Operation, Reply } from "./operation.ts";
import { statusReply } from "./status-reply.ts";

export function synchronousVariantOf(operation: Operation): Operation {
  return {
    ...operation,
    name: `sync/${operation.name}`,
    path: operation.path.replace(/^\/(v\d)\//, "/$1/sync/"),
    async handle(request, context): Promise<Reply | Failure> {
      const reply = await operation.handle(request, context);
      if (reply instanceof Failure || reply.describes === undefined) return reply;
      const { services } = context;
      const found = await services.orders.waitForResult(reply.describes);
      if (found instanceof Failure) return found;
      const status = await statusReply(found, { bySerialNumber: undefined, services });
      return { ...reply, ...status };
    },
  };
}
