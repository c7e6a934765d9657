/**
 * Hosts close to the card networks: ISO 8583:1987 in binary after a length of two bytes, without
 * another header. Field 60 has the ECI, field 62 the network's id, and field 126 the card's secrets
 * as sub-fields. The CVV is revealed here.
 */
import assert from "node:assert/strict";
import {
  cardholder63,
  DecodeFault,
  iso87Bitmapped,
  payment62,
  pointOfService60,
  readComposite,
  readPositions,
  response44,
  security126,
  writeComposite,
  writePositions,
} from "@tollgate/protocols/iso8583";
import {
  charges,
  type Dialect,
  type Facts,
  followUps,
  iso87Codes,
  iso87Mtis,
  makeRemarks,
  type RemarkPlaces,
  trimField,
} from "../dialect.ts";
import {
  addressData,
  iso87BinaryTotals,
  iso87GateRows,
  iso87Network,
  iso87Rows,
  readLocalTime87,
  ucafIndicatorOf,
  usesUcaf,
  visaIndicatorOf,
  writeCavv,
  writeUcaf,
} from "../fields.ts";

export const iso87Binary: Dialect = {
  specification: iso87Bitmapped,
  framing: "binary-2",
  mtis: iso87Mtis,
  codes: iso87Codes,
  network: iso87Network,
  // In Visa's dynamic key exchange, the gateway asks for a working key and the host delivers it.
  keyExchange: { deliver: "163", ask: "161", refused: "63", read: ({ 105: key }) => key },
  amountDigits: 12,
  hasInquiry: true,
  totals: iso87BinaryTotals,
  gateRows: iso87GateRows,
  rows: [
    ...iso87Rows,
    [60, charges, indicator],
    [62, charges, ({ credential, card }) => writeNetworkId(credential?.networkId, card)],
    [
      62,
      [...followUps, "refund"],
      ({ original, card }) => writeNetworkId(original?.networkId, card),
    ],
    [123, charges, addressData],
    [126, charges, security],
  ],
  hasPlaceFor: (value, network) =>
    (usesUcaf(network) ? writeUcaf(value) : writeCavv(value)) !== undefined,
  exemptions: [],
  readNetworkId,
  readLocalTime: readLocalTime87,
  readChecks,
  readRemarks,
};

type Fields = Parameters<Dialect["readRemarks"]>[0];

/** 01 is a single order by mail or telephone. */
function indicator({ authentication, card, isMoto }: Facts): string | undefined {
  const eci = isMoto === true ? "01" : authentication?.eci;
  if (eci === undefined) return undefined;
  return writePositions(pointOfService60, {
    8: isMoto === true ? eci : visaIndicatorOf(eci, card.number.network),
  });
}

/**
 * Writes sub-field 17 for Mastercard (Banknet reference and date), and 2 for other networks. An id
 * of another form belongs to another network and is left out.
 */
function writeNetworkId(
  networkId: string | undefined,
  { number }: Facts["card"],
): string | undefined {
  if (networkId === undefined) return undefined;
  if (usesUcaf(number.network) && /^[0-9A-Z]{9,15}$/.test(networkId)) {
    return writeComposite(payment62, { 17: networkId.padEnd(15) });
  }
  return /^[0-9]{15}$/.test(networkId) ? writeComposite(payment62, { 2: networkId }) : undefined;
}

/** The proof is in sub-field 9 (Mastercard: 15, 16), the CVV in 10, a stored card's use in 13. */
function security({ authentication, card, credential, cvv }: Facts): string | undefined {
  const subfields = authentication === undefined ? {} : proofOf(authentication, card);
  if (cvv !== undefined) subfields[10] = cvvGiven + cvv.reveal().padStart(4);
  if (credential !== undefined) subfields[13] = environments[credential.scenario];
  return Object.keys(subfields).length === 0 ? undefined : writeComposite(security126, subfields);
}

type Proof = NonNullable<Facts["authentication"]>;

/** A message whose value does not fit its place cannot be sent. */
function proofOf({ eci, value }: Proof, { number }: Facts["card"]): Record<number, string> {
  const isUcaf = usesUcaf(number.network);
  const indicated = isUcaf && eci !== undefined ? { 15: ucafIndicatorOf(eci) } : {};
  if (value === undefined) return indicated;
  const written = isUcaf ? writeUcaf(value) : writeCavv(value);
  assert.ok(written !== undefined, "field 126 has no place for the authentication value");
  return { ...indicated, [isUcaf ? 16 : 9]: written };
}

/** The CVV is present (1), and the answer has its result in field 44 (1). */
const cvvGiven = "11";

/** C is a credential on file that is used now and then, and R one that is used regularly. */
const environments = { IRREGULAR: "C", REGULAR: "R" } as const;

function readNetworkId({ 62: field }: Fields): string | undefined {
  if (field === undefined) return undefined;
  const subfields = readComposite(payment62, field);
  return subfields instanceof DecodeFault ? undefined : (subfields[2] ?? trimField(subfields[17]));
}

/** Sub-field 2 of field 44 has the letter for the address, and 10 the one for the CVV. */
function readChecks({ 44: field }: Fields) {
  const read = field === undefined ? undefined : readPositions(response44, field);
  const found = read === undefined || read instanceof DecodeFault ? undefined : read;
  return { avs: trimField(found?.[2]), cvvResult: trimField(found?.[10]) };
}

const remarkPlaces: RemarkPlaces<number> = {
  balance: 1,
  bonus: 2,
  program: 3,
  message: 4,
  explanation: 5,
};

/** Unreadable remarks do not affect the money, so the answer is read without them. */
function readRemarks({ 63: field }: Fields) {
  if (field === undefined) return undefined;
  const read = readPositions(cardholder63, field);
  if (read instanceof DecodeFault) return undefined;
  return makeRemarks(remarkPlaces, (place) => read[place]);
}
