/**
 * The CRes that a browser or a merchant brings. It tells that the challenge is over for the
 * cardholder and for which authentication; what came of it is not believed.
 */
import { decodeFormValue, MessageFault, readMessage, textOf } from "@tollgate/protocols/emv3ds";
import type { ThreeDSecure } from "../../orders/authentication.ts";
import { isSameId } from "../transaction-id.ts";

/** Why it is of no use here; nothing when it belongs to this challenge. */
export function findCresFault(
  cres: string,
  { transactionId, challenge }: ThreeDSecure,
  { allowHttp }: { readonly allowHttp: boolean },
): string | undefined {
  const text = decodeFormValue(cres);
  if (text instanceof MessageFault) return "it is not base64";
  const message = readMessage(text, { types: ["CRes", "Erro"], allowHttp });
  if (message instanceof MessageFault) return `it is no CRes: ${message.code} ${message.detail}`;
  // An issuer that fails says so to the browser as well, and may leave the ids out.
  if (message.messageType === "Erro") return undefined;
  const isSame =
    isSameId(textOf(message, "threeDSServerTransID"), transactionId) &&
    isSameId(textOf(message, "acsTransID"), challenge?.acsTransactionId);
  return isSame ? undefined : "it belongs to another authentication";
}
