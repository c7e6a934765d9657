/** The 3DS Method: a page in a hidden frame that tells whoever opened it that it has run. */
import { decodeMethodData, encodeMethodData, MessageFault } from "@tollgate/protocols/emv3ds";
import type { ThreeDsMessages } from "../threeds-messages.ts";
import type { Page } from "./pages/page.ts";
import { makeForwardPage, makeRefusalPage } from "./pages/passing-pages.ts";

export function runMethod(form: URLSearchParams, messages: ThreeDsMessages): Page {
  const asked = decodeMethodData(form.get("threeDSMethodData") ?? "", { allowHttp: true });
  if (asked instanceof MessageFault || asked.threeDSMethodNotificationURL === undefined) {
    return makeRefusalPage(400, "This is no request for the 3DS Method.");
  }
  const { threeDSServerTransID, threeDSMethodNotificationURL } = asked;
  const type = "threeDSMethodData";
  const transactionId = threeDSServerTransID;
  messages.record({ direction: "received", type, transactionId, fields: asked });
  return makeForwardPage("Looking at this browser", threeDSMethodNotificationURL, {
    threeDSMethodData: encodeMethodData({ threeDSServerTransID }),
  });
}
