/** What to answer a counterpart whose message was not taken: the code of an `Error` message. */
import type { ThreeDsFault, ThreeDsReason } from "./threeds-fault.ts";

export function errorCodeFor(fault: ThreeDsFault): string {
  return codes[fault.reason] ?? invalidFormat;
}

const invalidFormat = "5";

// biome-ignore format: a table
const codes: Readonly<Partial<Record<ThreeDsReason, string>>> = {
  malformed_xml:              "1",
  forbidden_xml:              "1",
  other_root:                 "1",
  other_message:              "2",
  missing_element:            "3",
  unknown_critical_extension: "4",
  other_version:              "6",
};
