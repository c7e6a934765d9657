/**
 * Why a message is not taken. It names the element of our own tables at most, never a value: a
 * VEReq carries a card number, and faults end up in logs.
 */

export class ThreeDsFault {
  readonly reason: ThreeDsReason;
  /** The element as the table spells it, with its parents: `Purchase/xid`. */
  readonly element: string | undefined;

  constructor(reason: ThreeDsReason, element?: string) {
    this.reason = reason;
    this.element = element;
  }
}

export type ThreeDsReason =
  | "malformed_encoding"
  | "too_large"
  | "malformed_xml"
  | "forbidden_xml"
  | "other_root"
  | "other_message"
  | "other_version"
  | "missing_element"
  | "repeated_element"
  | "unknown_element"
  | "malformed_element"
  | "unknown_critical_extension"
  | "unsigned"
  | "misplaced_signature"
  | "other_algorithm"
  | "malformed_certificate"
  | "untrusted_chain"
  | "expired_certificate"
  | "wrong_signature";
