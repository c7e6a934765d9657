/** Capture: takes the money that a preauthorisation holds, or a part of it, once. */

import { followUp, followUpControl, followUpFields, followUpRules } from "../follow-up.ts";
import { operation } from "../operation.ts";

export const capture = operation({
  name: "capture",
  path: "/v2/capture/{id}",
  purpose: "Takes what a preauthorisation holds: all of it or a part, once.",
  request: followUpFields,
  control: followUpControl,
  kept: true,
  sync: true,
  rules: followUpRules,
  handle: (request, context) => followUp("capture", request, context),
});
