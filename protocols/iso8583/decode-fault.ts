/**
 * Why a payload is not a message of ISO 8583:1987. A fault names the field and the rule and never
 * the value, so that it can be logged.
 */
export type DecodeField = number | Subfield | "mti" | "bitmap" | "end";

/** Such as 126.9. */
export type Subfield = `${number}.${number}`;

export type DecodeReason =
  | "cut_short"
  | "malformed_length"
  | "too_long"
  | "wrong_content"
  | "wrong_padding"
  | "unknown_field"
  | "needless_bitmap"
  | "repeated"
  | "left_over";

export class DecodeFault {
  readonly field: DecodeField;
  readonly reason: DecodeReason;

  constructor(field: DecodeField, reason: DecodeReason) {
    this.field = field;
    this.reason = reason;
  }
}
