/** A directory server as the operator keeps it in the database: addresses, names, certificates. */
import type { Network } from "../../values/card-number.ts";

export type DirectoryServer = {
  readonly name: string;
  /** Those that it answers for; none named means all. */
  readonly networks: readonly Network[];
  readonly settings: DirectorySettings;
};

export type DirectorySettings = {
  /** Where it takes EMV 3-D Secure messages, and those of 1.0.2; at least one of them. */
  readonly url?: string;
  readonly url102?: string;
  /** What we show it, and what its own certificates are issued by: files in PEM. */
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly authorityFile: string;
  /** The common name of the certificate that it posts results with; any other when absent. */
  readonly resultsName?: string;
  /** The roots that issuers' answers of 1.0.2 are signed under. */
  readonly paresRootsFile?: string;
  /** As the networks have named us. */
  readonly referenceNumber: string;
  readonly operatorId: string;
  readonly requestorId: string;
  readonly requestorName: string;
  readonly requestorUrl: string;
  /** Leads to a sandbox bank; production refuses it. */
  readonly sandbox?: boolean;
};
