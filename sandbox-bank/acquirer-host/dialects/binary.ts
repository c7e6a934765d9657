/** The host's binary dialect: the ECI in 60, ids in 62, words in 63, the card's secrets in 126. */
import {
  cardholder63,
  DecodeFault,
  type IsoFields,
  iso87Bitmapped,
  payment62,
  pointOfService60,
  readComposite,
  readPositions,
  security126,
  writeComposite,
  writePositions,
} from "@tollgate/protocols/iso8583";
import type { HostDialect, Proof, Remarks } from "../host-dialect.ts";

export const binary: HostDialect = {
  specification: iso87Bitmapped,
  framing: "binary-2",
  answersInquiries: true,
  readProof,
  writeNetworkId: (networkId) => writeComposite(payment62, { 2: networkId }),
  writeRemarks,
};

const nothing: IsoFields = {};

/** A CVV that the gateway says is there (1) stands at the right of its four places. */
function readProof({ 60: indicators, 62: payment, 126: secrets }: IsoFields): Proof | undefined {
  const places = indicators === undefined ? nothing : readPositions(pointOfService60, indicators);
  const ids = payment === undefined ? nothing : readComposite(payment62, payment);
  const security = secrets === undefined ? nothing : readComposite(security126, secrets);
  if (places instanceof DecodeFault || ids instanceof DecodeFault) return undefined;
  if (security instanceof DecodeFault) return undefined;
  const { 9: value, 10: given = "" } = security;
  return {
    cvv: given.startsWith("1") ? given.slice(2).trimStart() : "",
    eci: places[8],
    authenticationValue: value === undefined ? undefined : hexToBase64(value),
  };
}

function hexToBase64(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64");
}

function writeRemarks(remarks: Remarks): string {
  const { balance, bonus, program, message, explanation } = remarks;
  const texts = [balance, bonus, program, message, explanation];
  const subfields: { [subfield: number]: string } = {};
  for (const [subfield, , width] of cardholder63.rows) {
    const text = texts[subfield - 1];
    if (text !== undefined) subfields[subfield] = text.padEnd(width);
  }
  return writePositions(cardholder63, subfields);
}
