/** What is wrong with payment data, in the words of the error catalogue. */
import type { WalletReason as WalletAReason } from "@tollgate/protocols/walleta";
import type { WalletReason as WalletBReason } from "@tollgate/protocols/walletb";
import type { FailureCode } from "../values/failure.ts";
import { refuse, type WalletRefusal } from "./opened-wallet.ts";

type Fault = { readonly reason: WalletAReason | WalletBReason; readonly field: string | undefined };

// biome-ignore format: a table
const codes: { readonly [Reason in WalletAReason | WalletBReason]?: FailureCode } = {
  encoded_twice:            "wallet_encoded_twice",
  wrong_fields:             "wallet_other_type",
  unknown_version:          "wallet_other_type",
  untrusted_root:           "wallet_bad_signature",
  bad_signature:            "wallet_bad_signature",
  expired_root_key:         "wallet_expired",
  expired_intermediate_key: "wallet_expired",
  expired_message:          "wallet_expired",
  expired_certificate:      "wallet_expired",
  outside_signing_window:   "wallet_expired",
  malformed_signature:      "wallet_bad_signature",
  wrong_certificates:       "wallet_bad_signature",
  sandbox_signer:           "wallet_bad_signature",
  no_merchant_identifier:   "wallet_not_configured",
  bad_ciphertext:           "wallet_not_decrypted",
  no_key:                   "wallet_not_decrypted",
  bad_mac:                  "wallet_not_decrypted",
};

/** Fields may be named to the merchant: they are the wallet's own words. */
export function refusalOf({ reason, field }: Fault): WalletRefusal {
  return refuse(codes[reason] ?? "wallet_refused", field ?? "");
}

/** Of what a merchant has opened himself: a payload of a kind has a member that no other has. */
export function payloadRefusalOf(fault: Fault, text: string, member: string): WalletRefusal {
  const isOther = fault.reason === "bad_payload" && !Object.hasOwn(JSON.parse(text), member);
  return isOther ? refuse("wallet_other_type") : refusalOf(fault);
}
