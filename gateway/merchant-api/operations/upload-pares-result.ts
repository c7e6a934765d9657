/** Upload of the issuer's answer of 1.0.2, which counts only with the issuer's signature. */
import { upload, uploadControl, uploadFields } from "../existing-order.ts";
import { freeText, line } from "../fields.ts";
import { operation } from "../operation.ts";

export const uploadParesResult = operation({
  name: "upload-pares-result",
  path: "/3ds/v1/upload-pares-result/{id}",
  takesGroupIds: true,
  purpose: "Submits the PARes of the cardholder's bank (3-D Secure 1.0.2).",

  // biome-ignore format: a table
  request: {
    ...uploadFields,
    paRes: freeText(65_536, "the `PaRes` that the issuer's page has posted through the browser"),
    md:    line(254, "the `MD` that was posted with it: `tds-pareq-form-md`"),
  },

  control: uploadControl,

  handle(request, context) {
    const { paRes, md } = request;
    const { uploadPares } = context.services.threeds;
    return upload(request, context, (order) => uploadPares(order, { paRes, md }));
  },
});
