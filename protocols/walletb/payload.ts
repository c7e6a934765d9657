/**
 * The payload inside a token, or as a merchant sends it who opened the token himself. Fields that
 * are not known are left alone, because the wallet adds some from time to time.
 */
import { type Details, type Names, namesOf, readDetails } from "./payload-details.ts";
import { readMoment } from "./root-keys.ts";
import type { Version } from "./token.ts";
import { WalletFault } from "./wallet-fault.ts";
import { type Fields, isFields, parseFields } from "./wallet-json.ts";

export type Payload = Details & {
  readonly messageId: string;
  /** Milliseconds since 1970. */
  readonly messageExpiration: number;
  readonly gatewayMerchantId?: string;
};

/** `version` is ECv2 when it is not given, as for a payload that the merchant has decrypted. */
export function readPayload(
  text: string,
  { now, version = "ECv2" }: { readonly now: number; readonly version?: Version },
): Payload | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const { messageId, paymentMethodDetails } = fields;
  if (!isVisible(messageId)) return new WalletFault("bad_payload", "messageId");
  const messageExpiration = readMoment(fields["messageExpiration"]);
  if (messageExpiration === undefined) return new WalletFault("bad_payload", "messageExpiration");
  const gatewayMerchantId = fields["gatewayMerchantId"] ?? undefined;
  if (gatewayMerchantId !== undefined && !isVisible(gatewayMerchantId)) {
    return new WalletFault("bad_payload", "gatewayMerchantId");
  }
  const names = namesOf(fields["paymentMethod"]);
  if (names === undefined) return new WalletFault("bad_payload", "paymentMethod");
  if (!isFields(paymentMethodDetails)) {
    return new WalletFault("bad_payload", "paymentMethodDetails");
  }
  const details = readDetails(paymentMethodDetails, names, version);
  if (details instanceof WalletFault) return details;
  if (messageExpiration <= now) return new WalletFault("expired_message");
  const merchant = gatewayMerchantId === undefined ? {} : { gatewayMerchantId };
  return { messageId, messageExpiration, ...merchant, ...details };
}

/** ECv1 has names of its own for tokens of the networks. */
export function writePayload(payload: Payload, version: Version = "ECv2"): string {
  const { messageId, messageExpiration, gatewayMerchantId, ...details } = payload;
  const isTokenized = version === "ECv1" && details.authMethod === "CRYPTOGRAM_3DS";
  const paymentMethod = isTokenized ? "TOKENIZED_CARD" : "CARD";
  const names = namesOf(paymentMethod);
  return JSON.stringify({
    ...(gatewayMerchantId === undefined ? {} : { gatewayMerchantId }),
    messageExpiration: String(messageExpiration),
    messageId,
    paymentMethod,
    paymentMethodDetails: names && writeDetails(details, names),
  });
}

function writeDetails(details: Details, names: Names): Fields {
  const { pan, authMethod, cryptogram, eciIndicator, ...others } = details;
  return {
    ...others,
    [names.pan]: pan,
    authMethod: names.authMethods[authMethod],
    ...(cryptogram === undefined ? {} : { [names.cryptogram]: cryptogram }),
    ...(eciIndicator === undefined ? {} : { [names.eciIndicator]: eciIndicator }),
  };
}

/** Ids are kept and logged: no spaces at the ends, no controls, nothing outside ASCII. */
function isVisible(value: unknown): value is string {
  return typeof value === "string" && /^[!-~](?:[ -~]{0,254}[!-~])?$/.test(value);
}
