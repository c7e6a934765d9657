/** Upload of the CRes: the browser is back. The result comes from the directory server. */
import { upload, uploadControl, uploadFields } from "../existing-order.ts";
import { freeText } from "../fields.ts";
import { operation } from "../operation.ts";

export const uploadCresResult = operation({
  name: "upload-cres-result",
  path: "/3ds/v1/upload-cres-result/{id}",
  takesGroupIds: true,
  purpose: "Reports that the cardholder has returned from the challenge (3-D Secure 2.x).",

  // biome-ignore format: a table
  request: {
    ...uploadFields,
    cres: freeText(65_536, "the `cres` that the issuer's page has posted through the browser"),
  },

  control: uploadControl,

  handle(request, context) {
    const { uploadChallenge } = context.services.threeds;
    return upload(request, context, (order) => uploadChallenge(order, request.cres));
  },
});
