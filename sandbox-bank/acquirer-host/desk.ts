/** What the host's answers are made with, and the connection as those who answer see it. */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { BankClock } from "../bank-clock.ts";
import type { AuthenticationValues } from "../issuer/authentication-values.ts";
import type { Ledger } from "../ledger.ts";
import type { Switchboard } from "../switches.ts";
import type { HostDialect } from "./host-dialect.ts";
import type { LateAnswers } from "./late-answers.ts";
import type { Numbers } from "./numbers.ts";

export type Desk = {
  readonly clock: BankClock;
  readonly ledger: Ledger;
  readonly switches: Switchboard;
  readonly late: LateAnswers;
  readonly numbers: Numbers;
  readonly authenticationValues: AuthenticationValues;
};

export type Line = {
  readonly dialect: HostDialect;
  signedOn: boolean;
  isOpen(): boolean;
  answer(message: IsoMessage): void;
  answerGarbage(reference: string): void;
  close(reason: string): void;
};

export type Attend = (request: IsoMessage, line: Line) => void;
