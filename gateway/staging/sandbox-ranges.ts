/**
 * The issuers of the sandbox's cards: invented names, and codes in the form that the networks
 * use. They serve staging until an operator has loaded a BIN table.
 */

import { type IssuerRange, makeRange } from "../issuers/issuers.ts";
import type { Issuer } from "../orders/order.ts";

type Row = readonly [
  prefix: string,
  name: string,
  country: string,
  productCode: string,
  productName: string,
  type: keyof typeof typeNames,
];

const typeNames = { C: "CREDIT", D: "DEBIT", H: "CHARGE" } as const;

const rows: readonly Row[] = [
  ["40000010", "Issuing", "USA", "F", "Visa Classic", "C"],
  ["40000020", "Issuing", "NLD", "P", "Visa Gold", "C"],
  ["40000021", "Savings", "DEU", "F", "Visa Classic", "D"],
  ["40000022", "Maritime", "FRA", "N", "Visa Platinum", "C"],
  ["40000023", "Digital", "SWE", "I", "Visa Infinite", "C"],
  ["40000030", "Heritage", "GBR", "F", "Visa Classic", "D"],
  ["40000040", "Issuing", "USA", "G", "Visa Business", "C"],
  ["520000", "Merchants", "NLD", "MCS", "Mastercard Standard", "C"],
  ["222300", "Digital", "SWE", "MDS", "Debit Mastercard", "D"],
  ["340000", "Travel", "USA", "AXG", "Gold Card", "H"],
  ["601100", "Discovery", "USA", "001", "Consumer Credit", "C"],
  ["353000", "Sakura", "JPN", "JCS", "JCB Standard", "C"],
  ["620000", "Orient", "CHN", "UPC", "UnionPay Classic", "D"],
  ["360000", "Dining", "ITA", "DCI", "Diners Club International", "H"],
  ["676700", "Savings", "DEU", "MSI", "Maestro", "D"],
  ["220000", "Northern", "RUS", "MRC", "Mir Classic", "D"],
];

export const sandboxRanges: readonly IssuerRange[] = rows.map(
  ([prefix, name, country, productCode, productName, type]) => {
    const bankName = `Sandbox ${name} Bank`;
    const typeCode: string = type;
    const typeName: string = typeNames[type];
    const issuer: Issuer = { bankName, country, productCode, productName, typeCode, typeName };
    return makeRange(prefix, prefix, issuer);
  },
);

/** Networks that exist in documentation only, with countries for screening. */
export const sandboxNetworks = [
  ["192.0.2.0/24", "US"],
  ["198.51.100.0/24", "GB"],
  ["203.0.113.0/24", "NL"],
  ["2001:db8::/32", "DE"],
] as const;
