/** A gate: the settings of one way to an acquirer, as the operator keeps them in the database. */
import type { CredentialDefaults } from "../orders/order.ts";
import type { GateId } from "../values/ids.ts";
import type { Fee } from "../values/money.ts";

export type Gate = {
  readonly id: GateId;
  readonly name: string;
  readonly kind: GateKind;
  readonly settings: GateSettings;
};

/** Which dialect the host behind the gate speaks; each is a table of its own. */
export const gateKinds = ["sandbox", "iso87_binary"] as const;
export type GateKind = (typeof gateKinds)[number];

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
  /** Leads to a sandbox bank, whatever its kind; production refuses it. */
  readonly sandbox?: boolean;
  /** What the gate takes: every currency when absent. */
  readonly currencies?: readonly string[];
  /** In minor units, as text; an amount outside them goes through another gate. */
  readonly amountMin?: string;
  readonly amountMax?: string;
  /** For recurrent payments that do not say it themselves. */
  readonly recurrent?: CredentialDefaults;
  /** What the acquirer keeps. */
  readonly fee?: Fee;
};
