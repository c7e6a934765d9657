/** The two dialects of the host from a gateway's side, as far as they differ. */
import {
  type IsoFields,
  iso87Ascii,
  iso87Bitmapped,
  type Specification,
  security126,
  writeComposite,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import type { Bank } from "../bank.ts";

export type Speech = {
  readonly name: string;
  readonly specification: Specification;
  readonly portOf: (bank: Bank) => number;
  readonly writeProof: (proof: Proof) => IsoFields;
  /** A field that the codec takes and the dialect does not. */
  readonly unreadable: IsoFields;
  /** Field 62 of an approval; field 63 of the cards that have words in theirs. */
  readonly networkId: RegExp;
  readonly loyalty: string;
  readonly explanation: RegExp;
};

export type Proof = {
  readonly cvv: string;
  readonly eci: string | undefined;
  /** Bytes in hex. */
  readonly cavv: string | undefined;
};

export const asciiSpeech: Speech = {
  name: "ascii",
  specification: iso87Ascii,
  portOf: (bank) => bank.hostPort,
  writeProof({ cvv, eci, cavv }) {
    const elements: [string, string][] = [];
    if (eci !== undefined) elements.push(["42", eci]);
    if (cavv !== undefined) elements.push(["43", Buffer.from(cavv, "hex").toString("base64")]);
    if (cvv !== "") elements.push(["92", cvv]);
    return elements.length === 0 ? {} : { 48: writeSubelements("T", elements) };
  },
  unreadable: { 48: "T92" },
  networkId: /^\d{15}$/,
  loyalty: "R010412500228Thank you for paying with us0302150413Sandbox Bonus",
  explanation: /^R0570The balance of this card is too low\./,
};

export const binarySpeech: Speech = {
  name: "binary",
  specification: iso87Bitmapped,
  portOf: (bank) => bank.binaryHostPort,
  writeProof({ cvv, eci, cavv }) {
    const subfields: { [subfield: number]: string } = {};
    if (cavv !== undefined) subfields[9] = cavv;
    if (cvv !== "") subfields[10] = `10${cvv.padStart(4)}`;
    return {
      ...(eci === undefined ? {} : { 60: `00000000${eci}` }),
      ...(cavv === undefined && cvv === "" ? {} : { 126: writeComposite(security126, subfields) }),
    };
  },
  unreadable: { 126: "0040000000000000" },
  networkId: /^40{15}0\d{15}$/,
  loyalty: [
    "1250".padEnd(12),
    "15".padEnd(12),
    "Sandbox Bonus".padEnd(25),
    "Thank you for paying with us".padEnd(60),
  ].join(""),
  explanation: /^ {109}The balance of this card is too low\./,
};

export const speeches: readonly Speech[] = [asciiSpeech, binarySpeech];
