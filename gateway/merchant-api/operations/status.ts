/** Order status: what has become of an order, or of one request made for it. */

import { Failure } from "../../values/failure.ts";
import { asOrderId, asSerialNumber } from "../../values/ids.ts";
import { line, optional, orderId, serialNumber } from "../fields.ts";
import { operation } from "../operation.ts";
import { statusReply } from "../status-reply.ts";

export const status = operation({
  name: "status",
  path: "/v2/status/{id}",
  purpose: "Tells the state of an order. Poll it until a final status is returned.",

  // biome-ignore format: a table
  request: {
    login:           line(20, "merchant login"),
    client_orderid:  line(128, "merchant order id"),
    orderid:         optional(orderId("service order id; without it the latest order with the client_orderid is described")),
    "by-request-sn": optional(serialNumber("serial number of the request that the answer shall describe; not signed")),
    control:         line(40, "checksum"),
  },

  control: ["login", "client_orderid", "orderid"],
  kept: false,
  sync: false,
  rules: () => [],

  async handle(request, { entryPoint, services }) {
    const { orderid, "by-request-sn": bySerialNumber } = request;
    const found = await services.orders.find(entryPoint, {
      clientOrderId: request.client_orderid,
      orderId: orderid === undefined ? undefined : asOrderId(orderid),
      bySerialNumber: bySerialNumber === undefined ? undefined : asSerialNumber(bySerialNumber),
    });
    return found instanceof Failure ? found : statusReply(found, { bySerialNumber, services });
  },
});
