/** A gate: the settings of one way to an acquirer, as the operator keeps them in the database. */
import type { GateId } from "../values/ids.ts";

export type Gate = {
  readonly id: GateId;
  readonly name: string;
  readonly kind: GateKind;
  readonly settings: GateSettings;
};

/** `sandbox`: the sandbox bank's own dialect, ISO 8583:1987 in ASCII. */
export type GateKind = "sandbox";

export type GateSettings = {
  readonly host: string;
  readonly port: number;
  /** Fields 41, 42, 43, 18, 19 and 32 of every message. */
  readonly terminalId: string;
  readonly merchantCode: string;
  readonly nameAndPlace: string;
  readonly categoryCode: string;
  readonly countryCode: string;
  readonly acquirerId: string;
  readonly descriptor: string;
  readonly worksWithoutCvv: boolean;
  readonly partialReversal: boolean;
  readonly partialCapture: boolean;
};
