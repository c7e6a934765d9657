/**
 * Uploads of 3-D Secure from the merchant's server: whether the issuer's method has run, the
 * browser's return from a challenge (whose result the directory server sends), and the issuer's
 * answer of 1.0.2, which needs the issuer's signature.
 */
import type { Order } from "../../orders/order.ts";
import { Failure } from "../../values/failure.ts";
import {
  checksum,
  choice,
  clientOrderId,
  digits,
  ipAddress,
  line,
  message,
  optional,
  orderId,
  pattern,
  url,
  uuid,
  type Values,
} from "../fields.ts";
import { type Context, findOrder, operation, type Reply } from "../operation.ts";
import { acknowledge } from "../reply.ts";

const uploadFields = {
  login: line(20, "merchant login"),
  orderid: orderId("service order id"),
  "client-order-id": clientOrderId("merchant order id"),
  control: checksum(),
} as const;

const shared = { takesGroupIds: true, control: ["login", "client-order-id", "orderid"] } as const;
const truth = ["true", "false"] as const;
const completions = ["Y", "N", "U"] as const;

export const uploadMethodUrlResult = operation({
  name: "upload-method-url-result",
  goesOn: "for_disabled_endpoints",
  path: "/3ds/v1/upload-method-url-result/{id}",
  ...shared,
  purpose: "Reports that the issuer's method frame was loaded, and the properties of the browser.",

  request: {
    ...uploadFields,
    threeDSServerTransID: uuid("taken from `tds-method-url-frame-3ds-server-trans-id`"),
    threeDSCompInd: choice(completions, "whether the method has run: `Y`, `N`, or `U` for unknown"),
    notificationURL: optional(
      url(
        "URL to which the issuer posts the CRes after a challenge; the gateway's own by default",
        256,
      ),
    ),
    browserLanguage: optional(line(100, "`navigator.language`")),
    browserColorDepth: optional(digits(1, 2, "`screen.colorDepth`")),
    browserJavaEnabled: optional(choice(truth, "`navigator.javaEnabled()`")),
    browserJavascriptEnabled: optional(choice(truth, "whether JavaScript runs in the browser")),
    browserIP: optional(ipAddress("the browser's IP address; the sale's `ipaddress` by default")),
    browserUserAgent: optional(line(2048, "the browser's User-Agent header")),
    browserAcceptHeader: optional(line(2048, "the browser's Accept header")),
    browserTZ: optional(
      pattern(
        "5/String",
        /^[+-]?\d{1,4}$/,
        "`new Date().getTimezoneOffset()`: minutes, positive behind UTC",
      ),
    ),
    browserScreenHeight: optional(digits(1, 6, "`screen.height`")),
    browserScreenWidth: optional(digits(1, 6, "`screen.width`")),
  },

  /** The URL to which the browser returns obeys the rules of a purchase's addresses. */
  rules({ notificationURL: sent }, { services, entryPoint }) {
    const fault = sent && services.findAddressFault(sent, "return", entryPoint.endpoints);
    return fault ? [new Failure("invalid_parameter", `notificationURL: ${fault}`)] : [];
  },

  handle(request, context) {
    const { threeDSServerTransID, threeDSCompInd: completion, notificationURL } = request;
    const properties = Object.fromEntries(
      Object.entries(request).flatMap(([name, value]) =>
        name.startsWith("browser") && typeof value === "string" ? [[name, value]] : [],
      ),
    );
    const notification = notificationURL && { notificationUrl: notificationURL };
    const browser = { completion, properties, ...notification };
    const { uploadMethod } = context.services.threeds;
    return upload(request, context, (order) =>
      uploadMethod(order, { transactionId: threeDSServerTransID, browser }),
    );
  },
});

export const uploadCresResult = operation({
  name: "upload-cres-result",
  goesOn: "for_disabled_endpoints",
  path: "/3ds/v1/upload-cres-result/{id}",
  ...shared,
  purpose: "Reports that the cardholder has returned from the challenge (3-D Secure 2.x).",

  request: {
    ...uploadFields,
    cres: message(65_536, "the `cres` that the issuer's page has posted through the browser"),
  },

  handle(request, context) {
    const { uploadChallenge } = context.services.threeds;
    return upload(request, context, (order) => uploadChallenge(order, request.cres));
  },
});

export const uploadParesResult = operation({
  name: "upload-pares-result",
  goesOn: "for_disabled_endpoints",
  path: "/3ds/v1/upload-pares-result/{id}",
  ...shared,
  purpose: "Submits the PARes of the issuer (3-D Secure 1.0.2).",

  request: {
    ...uploadFields,
    paRes: message(65_536, "the `PaRes` that the issuer's page has posted through the browser"),
    md: message(254, "the `MD` that was posted with it: `tds-pareq-form-md`"),
  },

  handle(request, context) {
    const { paRes, md } = request;
    const { uploadPares } = context.services.threeds;
    return upload(request, context, (order) => uploadPares(order, { paRes, md }));
  },
});

async function upload(
  request: Values<Pick<typeof uploadFields, "orderid" | "client-order-id">>,
  context: Context,
  report: (order: Order) => Promise<Order | Failure>,
): Promise<Reply | Failure> {
  const found = await findOrder(request["client-order-id"], request.orderid, context);
  if (found instanceof Failure) return found;
  const order = await report(found.order);
  if (order instanceof Failure) return order;
  return acknowledge({ order, transaction: order.transaction });
}
