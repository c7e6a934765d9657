/** The order status: the state of an order, or the result of one of its requests. */
import { Failure } from "../../values/failure.ts";
import { asOrderId, asSerialNumber } from "../../values/ids.ts";
import { checksum, clientOrderId, line, optional, orderId, uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { pollReply, statusReply } from "../reply.ts";

export const status = operation({
  name: "status",
  path: "/v2/status/{id}",
  purpose: "Returns the state of an order. Poll it until the status is final.",

  request: {
    login: line(20, "merchant login"),
    client_orderid: clientOrderId("merchant order id"),
    orderid: optional(
      orderId("service order id; by default the latest order with the client_orderid"),
    ),
    "by-request-sn": optional(
      uuid("serial number of the request to describe; not signed", "not a serial number"),
    ),
    control: checksum(),
  },

  control: ["login", "client_orderid", "orderid"],
  isQuery: true,
  goesOn: "for_disabled_merchants",

  async handle(request, { entryPoint, services }) {
    const { orderid, "by-request-sn": bySerialNumber } = request;
    const found = await services.orders.find(entryPoint, {
      clientOrderId: request.client_orderid,
      orderId: orderid === undefined ? undefined : asOrderId(orderid),
      bySerialNumber: bySerialNumber === undefined ? undefined : asSerialNumber(bySerialNumber),
    });
    if (found instanceof Failure) return found;
    if (bySerialNumber === undefined) return pollReply(found, services);
    return statusReply(found, services, bySerialNumber);
  },
});
