/** The host's dialect in ASCII: what has no field of its own is in sub-elements of 48 and 63. */
import {
  DecodeFault,
  type IsoFields,
  iso87Ascii,
  readSubelements,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import type { HostDialect, Proof, Remarks } from "../host-dialect.ts";

export const ascii: HostDialect = {
  specification: iso87Ascii,
  framing: "binary-2",
  answersInquiries: false,
  readProof,
  writeNetworkId: (networkId) => networkId,
  writeRemarks,
};

const noProof: Proof = { cvv: "", eci: undefined, authenticationValue: undefined };

/** 42 the ECI, 43 the authentication value, 92 the CVV. */
function readProof({ 48: field }: IsoFields): Proof | undefined {
  if (field === undefined) return noProof;
  const read = readSubelements(field);
  if (read instanceof DecodeFault) return undefined;
  const { elements } = read;
  return {
    cvv: elements.get("92") ?? "",
    eci: elements.get("42"),
    authenticationValue: elements.get("43"),
  };
}

/** Category R, then what there is to say. */
function writeRemarks(remarks: Remarks): string {
  const { balance, message, bonus, program, explanation } = remarks;
  // biome-ignore format: a table
  const elements = [
    ["01", balance],
    ["02", message],
    ["03", bonus],
    ["04", program],
    ["05", explanation],
  ] as const;
  return writeSubelements(
    "R",
    elements.flatMap(([tag, value]) => (value === undefined ? [] : [[tag, value] as const])),
  );
}
