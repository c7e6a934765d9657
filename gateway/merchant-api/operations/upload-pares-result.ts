/** Upload of the issuer's answer of 1.0.2, which is believed when the issuer has signed it. */

import { freeText, line } from "../fields.ts";
import { operation } from "../operation.ts";
import { upload, uploadControl, uploadFields } from "../threeds-upload.ts";

export const uploadParesResult = operation({
  name: "upload-pares-result",
  path: "/3ds/v1/upload-pares-result/{id}",
  takesGroupIds: true,
  purpose: "Hands in the answer of the cardholder's bank (3-D Secure 1.0.2).",

  // biome-ignore format: a table
  request: {
    ...uploadFields,
    paRes: freeText(65_536, "the `PaRes` that the issuer's page has sent the browser back with"),
    md:    line(254, "the `MD` that came with it: `tds-pareq-form-md`"),
  },

  control: uploadControl,
  kept: true,
  sync: false,
  rules: () => [],

  handle: (request, context) =>
    upload(request, context, (order) =>
      context.services.threeds.uploadPares(order, {
        paRes: request.paRes,
        md: request.md,
      }),
    ),
});
