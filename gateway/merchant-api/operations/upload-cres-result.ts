/** Upload of the challenge's end. It tells that the browser is back; the result comes elsewhere. */

import { freeText } from "../fields.ts";
import { operation } from "../operation.ts";
import { upload, uploadControl, uploadFields } from "../threeds-upload.ts";

export const uploadCresResult = operation({
  name: "upload-cres-result",
  path: "/3ds/v1/upload-cres-result/{id}",
  takesGroupIds: true,
  purpose: "Tells that the cardholder is back from the challenge (3-D Secure 2.x).",

  // biome-ignore format: a table
  request: {
    ...uploadFields,
    cres: freeText(65_536, "the `cres` that the issuer's page has sent the browser back with"),
  },

  control: uploadControl,
  kept: true,
  sync: false,
  rules: () => [],

  handle: (request, context) =>
    upload(request, context, (order) =>
      context.services.threeds.uploadChallenge(order, request.cres),
    ),
});
