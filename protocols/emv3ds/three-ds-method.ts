/** The form value `threeDSMethodData`, on its way to the ACS and back. */
import { isUrl, isUuid } from "./checks.ts";
import { packForm, unpackForm } from "./form.ts";
import { parseJson } from "./json.ts";
import { isFields, textOf } from "./message.ts";
import { MessageFault } from "./message-fault.ts";

export type MethodForm = {
  readonly threeDSServerTransID: string;
  /** Absent on the way back. */
  readonly threeDSMethodNotificationURL?: string;
};

export function packMethod(method: MethodForm): string {
  return packForm(method);
}

export function readMethod(
  text: string,
  { allowHttp = false }: { readonly allowHttp?: boolean } = {},
): MethodForm | MessageFault {
  const json = unpackForm(text);
  if (json instanceof MessageFault) return json;
  const fields = parseJson(json);
  if (fields instanceof MessageFault) return fields;
  if (!isFields(fields)) return new MessageFault("101", [], "not a JSON object");

  const threeDSServerTransID = textOf(fields, "threeDSServerTransID") ?? "";
  if (threeDSServerTransID === "") return new MessageFault("201", ["threeDSServerTransID"]);
  if (!isUuid(threeDSServerTransID)) return new MessageFault("203", ["threeDSServerTransID"]);
  if (fields.threeDSMethodNotificationURL === undefined) return { threeDSServerTransID };
  const address = textOf(fields, "threeDSMethodNotificationURL") ?? "";
  return isUrl(address, 2048, allowHttp)
    ? { threeDSServerTransID, threeDSMethodNotificationURL: address }
    : new MessageFault("203", ["threeDSMethodNotificationURL"]);
}
