/**
 * What the host must know of the dialect that a gateway speaks to it: everything else is decided
 * alike for all of them, from fields that have one meaning in every dialect.
 */
import type { Framing, IsoFields, Specification } from "@tollgate/protocols/iso8583";

export type HostDialect = {
  readonly specification: Specification;
  readonly framing: Framing;
  readonly answersInquiries: boolean;
  /** Nothing when the private fields cannot be read. */
  readonly readProof: (fields: IsoFields) => Proof | undefined;
  /** Field 62 of an approval. */
  readonly writeNetworkId: (networkId: string) => string;
  /** Field 63 of an answer. */
  readonly writeRemarks: (remarks: Remarks) => string;
};

/** What a charge brings to show that the cardholder wants it. */
export type Proof = {
  readonly cvv: string;
  readonly eci: string | undefined;
  /** Base64, whatever the dialect writes. */
  readonly authenticationValue: string | undefined;
};

/** Words for the cardholder. */
export type Remarks = {
  readonly balance?: string;
  readonly message?: string;
  readonly bonus?: string;
  readonly program?: string;
  readonly explanation?: string;
};
