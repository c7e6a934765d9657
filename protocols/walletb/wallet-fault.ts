/**
 * Why a token, a payload or a list of keys is not taken. It names a field of our own tables at
 * most, never a value: a payload holds a card number, and faults end up in logs.
 */

export class WalletFault {
  readonly reason: WalletReason;
  /** The field as the wallet spells it: `signedMessage`, `paymentMethodDetails.pan`. */
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
  /** Neither of the two that there are, or one that `versions` does not name. */
  | "unknown_version"
  /** None of our root keys has signed: a foreign root, or a changed token. */
  | "untrusted_root"
  | "expired_root_key"
  | "expired_intermediate_key"
  /** Changed, or signed for another recipient: the recipient is among the signed bytes. */
  | "bad_signature"
  | "no_key"
  /** Genuine, but encrypted with none of our keys. */
  | "bad_mac"
  | "expired_message"
  | "bad_payload"
  | "bad_root_keys";
