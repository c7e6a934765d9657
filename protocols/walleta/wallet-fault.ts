/**
 * Why a token or a payload is not taken. It names a field of our own tables at most, never a
 * value: a payload holds a card number, and faults end up in logs.
 */

export class WalletFault {
  readonly reason: WalletReason;
  /** The field as the wallet spells it: `header.publicKeyHash`, `paymentDataType`. */
  readonly field: string | undefined;

  constructor(reason: WalletReason, field?: string) {
    this.reason = reason;
    this.field = field;
  }
}

export type WalletReason =
  | "too_large"
  | "not_json"
  /** A JSON string that holds JSON: the sender serialised once too often. */
  | "encoded_twice"
  | "wrong_fields"
  | "malformed_field"
  | "unknown_version"
  /** The signature is no CMS of the shape that the wallet writes. */
  | "malformed_signature"
  /** No leaf or no intermediate with its marker, or they do not belong together. */
  | "wrong_certificates"
  | "untrusted_root"
  /** A certificate of the chain was not valid when the token was signed. */
  | "expired_certificate"
  /** Signed in the wallet's sandbox, which is not allowed here. */
  | "sandbox_signer"
  | "bad_signature"
  /** Signed too long ago, or in the future. */
  | "outside_signing_window"
  /** No key of ours has this publicKeyHash: another recipient, or a key long replaced. */
  | "no_key"
  /** The key's certificate and settings do not tell the merchant identifier. */
  | "no_merchant_identifier"
  /** The key was ours, but the text does not open: another merchant identifier, or changed. */
  | "bad_ciphertext"
  | "bad_payload";
