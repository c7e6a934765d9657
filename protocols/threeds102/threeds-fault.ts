/** Why a message is refused, and the code of the `Error` message that answers it. */

/**
 * Names an element of our own tables at most, never a value: a VEReq carries a card number, and
 * faults are logged.
 */
export class ThreeDsFault {
  readonly reason: ThreeDsReason;
  /** As the table spells it, with its parents: `Purchase/xid`. */
  readonly element: string | undefined;

  constructor(reason: ThreeDsReason, element?: string) {
    this.reason = reason;
    this.element = element;
  }
}

export type ThreeDsReason = keyof typeof errorCodes;

export function errorCodeFor({ reason }: ThreeDsFault): string {
  return errorCodes[reason];
}

// biome-ignore format: a table
const errorCodes = {
  malformed_encoding:         "5",
  too_large:                  "5",
  malformed_xml:              "1",
  forbidden_xml:              "1",
  other_root:                 "1",
  other_message:              "2",
  other_version:              "6",
  missing_element:            "3",
  repeated_element:           "5",
  unknown_element:            "5",
  malformed_element:          "5",
  unknown_critical_extension: "4",
  unsigned:                   "5",
  misplaced_signature:        "5",
  other_algorithm:            "5",
  malformed_certificate:      "5",
  untrusted_chain:            "5",
  expired_certificate:        "5",
  wrong_signature:            "5",
} as const;
