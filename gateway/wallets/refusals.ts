/**
 * What is wrong with payment data, in the words of the error catalogue, and a phrase that tells
 * one cause from another. Phrases are fixed and fields are the wallet's own words: nothing that
 * the payment data says is in them, so merchants and logs may read them.
 */
import type { WalletReason as WalletAReason } from "@tollgate/protocols/walleta";
import type { WalletReason as WalletBReason } from "@tollgate/protocols/walletb";
import type { FailureCode } from "../values/failure.ts";
import { refuse, type WalletRefusal } from "./opened-wallet.ts";

type Reason = WalletAReason | WalletBReason;
type Fault = { readonly reason: Reason; readonly field: string | undefined };

// biome-ignore format: a table
const refusals: Readonly<Record<Reason, readonly [code: FailureCode, phrase: string]>> = {
  too_large:                ["wallet_refused",        "larger than any of the wallet"],
  not_json:                 ["wallet_refused",        "not JSON"],
  malformed_field:          ["wallet_refused",        "malformed"],
  bad_payload:              ["wallet_refused",        "missing, or not of its form"],
  bad_root_keys:            ["wallet_refused",        "the root keys cannot be read"],
  encoded_twice:            ["wallet_encoded_twice",  "JSON inside a JSON string"],
  wrong_fields:             ["wallet_other_type",     "other fields than this type has"],
  unknown_version:          ["wallet_other_type",     "a version that is not taken here"],
  untrusted_root:           ["wallet_bad_signature",  "signed under no root that is trusted here"],
  bad_signature:            ["wallet_bad_signature",  "changed after it was signed, or signed for another recipient"],
  malformed_signature:      ["wallet_bad_signature",  "the signature is not of the wallet's form"],
  wrong_certificates:       ["wallet_bad_signature",  "the certificates are not the wallet's"],
  sandbox_signer:           ["wallet_bad_signature",  "a test token, which is not taken in production"],
  expired_root_key:         ["wallet_expired",        "the root key that is trusted here has expired"],
  expired_intermediate_key: ["wallet_expired",        "the wallet's signing key has expired"],
  expired_certificate:      ["wallet_expired",        "a certificate was not valid when it was signed"],
  expired_message:          ["wallet_expired",        "the token has expired"],
  outside_signing_window:   ["wallet_expired",        "signed too long ago, or in the future"],
  no_merchant_identifier:   ["wallet_not_configured", "walleta: no merchant identifier"],
  no_key:                   ["wallet_not_decrypted",  "made for a key that the merchant does not have here"],
  bad_ciphertext:           ["wallet_not_decrypted",  "made for another merchant identifier, or changed"],
  bad_mac:                  ["wallet_not_decrypted",  "made for none of the merchant's keys"],
};

export function refusalOf({ reason, field }: Fault): WalletRefusal {
  const [code, phrase] = refusals[reason];
  return refuse(code, field === undefined ? phrase : `${field}: ${phrase}`);
}

/** Of what a merchant has opened himself: a payload of a kind has a member that no other has. */
export function payloadRefusalOf(fault: Fault, text: string, member: string): WalletRefusal {
  const isOther = fault.reason === "bad_payload" && !Object.hasOwn(JSON.parse(text), member);
  return isOther ? refuse("wallet_other_type", `there is no ${member}`) : refusalOf(fault);
}
