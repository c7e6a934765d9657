/**
 * Why a text is not a message that can be taken: the code that an Erro answers with, and the names
 * of the elements. Values never stand here, because an AReq holds a card number.
 */
import type { ErrorCode } from "./message.ts";

/** What could be told of the refused message, for the Erro that answers it. */
export type Received = {
  readonly messageType?: string;
  readonly messageVersion?: string;
  readonly threeDSServerTransID?: string;
  readonly dsTransID?: string;
  readonly acsTransID?: string;
};

export class MessageFault {
  readonly code: ErrorCode;
  /** Names such as `acctNumber` or `merchantRiskIndicator.giftCardCurr`. */
  readonly elements: readonly string[];
  /** Text for errorDetail: the names, joined with commas, if nothing else is given. */
  readonly detail: string;
  readonly received: Received;

  constructor(
    code: ErrorCode,
    elements: readonly string[],
    detail: string = elements.join(","),
    received: Received = {},
  ) {
    this.code = code;
    this.elements = elements;
    this.detail = detail;
    this.received = received;
  }
}
