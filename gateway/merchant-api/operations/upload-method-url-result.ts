/** Upload of the method result: whether the issuer's frame has run in the browser. */
import { upload, uploadControl, uploadFields } from "../existing-order.ts";
import { choice, digits, ipAddress, line, optional, pattern, url, uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const truth = ["true", "false"] as const;
const completions = ["Y", "N", "U"] as const;

export const uploadMethodUrlResult = operation({
  name: "upload-method-url-result",
  path: "/3ds/v1/upload-method-url-result/{id}",
  takesGroupIds: true,
  purpose: "Reports that the issuer's method frame was loaded, and the properties of the browser.",

  // biome-ignore format: a table
  request: {
    ...uploadFields,
    threeDSServerTransID:     uuid("taken from `tds-method-url-frame-3ds-server-trans-id`"),
    threeDSCompInd:           choice(completions, "whether the method has run: `Y`, `N`, or `U` for unknown"),
    notificationURL:          optional(url("URL to which the issuer posts the CRes after a challenge; the gateway's own page by default", 256)),
    browserLanguage:          optional(line(100, "`navigator.language`")),
    browserColorDepth:        optional(digits(1, 2, "`screen.colorDepth`")),
    browserJavaEnabled:       optional(choice(truth, "`navigator.javaEnabled()`")),
    browserJavascriptEnabled: optional(choice(truth, "whether JavaScript runs in the browser")),
    browserIP:                optional(ipAddress("the browser's IP address; the sale's `ipaddress` by default")),
    browserUserAgent:         optional(line(2048, "the browser's User-Agent header")),
    browserAcceptHeader:      optional(line(2048, "the browser's Accept header")),
    browserTZ:                optional(pattern("5/String", /^[+-]?\d{1,4}$/, "`new Date().getTimezoneOffset()`: minutes, positive behind UTC")),
    browserScreenHeight:      optional(digits(1, 6, "`screen.height`")),
    browserScreenWidth:       optional(digits(1, 6, "`screen.width`")),
  },

  control: uploadControl,

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
