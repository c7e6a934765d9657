/**
 * The 3-D Secure authentication of an order: its progress and its result. It contains ids and
 * addresses, never a card number.
 */

/** The result of the authentication that merchants and acquirers receive. */
export type Authentication = {
  /** Undefined when a wallet has proved the authentication: no 3-D Secure was performed then. */
  readonly status?: "AUTHENTICATED" | "NOT_AUTHENTICATED" | "UNSUPPORTED";
  readonly eci: string | undefined;
  /** The proof for the issuer (CAVV, AAV), in base64; never a wallet's, which is not written. */
  readonly value?: string;
  /** The directory server's id of it, which networks want to see again. */
  readonly directoryTransactionId?: string;
};

/** An authentication on its way. */
export type ThreeDSecure = {
  /** The name of the directory server that it goes through. */
  readonly directory: string;
  /** 2.1.0, 2.2.0, 2.3.1 or 1.0.2. */
  readonly version: string;
  /** Ours; in 1.0.2 the xid. It leads from a result message back to the order. */
  readonly transactionId: string;
  readonly methodUrl?: string;
  /**
   * The browser's properties that the method step reported; undefined if there was no such step.
   */
  readonly browser?: SeenBrowser;
  readonly challenge?: Challenge;
  readonly payerRequest?: PayerRequest;
};

/** The ids of an authentication that is over. */
export type EndedThreeDSecure = Pick<ThreeDSecure, "directory" | "version" | "transactionId"> & {
  readonly challenge?: Pick<Challenge, "acsTransactionId" | "directoryTransactionId">;
};

/** The cardholder's browser, by the names that 3-D Secure gives its properties. */
export type SeenBrowser = {
  /** Whether the issuer's method has run: Y, N, or U when there was none to run. */
  readonly completion: "Y" | "N" | "U";
  /** Where the issuer sends the challenge's end: the merchant's address, or nothing for ours. */
  readonly notificationUrl?: string;
  readonly properties: Readonly<Record<string, string>>;
};

/** The cardholder has to prove it at the issuer (2.x). */
export type Challenge = {
  readonly acsUrl: string;
  readonly acsTransactionId: string;
  readonly directoryTransactionId: string;
  /** The challenge request, as it stands in the form. */
  readonly creq: string;
};

/** The request to the issuer in 3-D Secure 1.0.2. */
export type PayerRequest = {
  readonly acsUrl: string;
  /** The packed PAReq, as it stands in the form. */
  readonly pareq: string;
  /** The date that the PAReq has; the answer must have the same. */
  readonly date: string;
  readonly acquirerBin: string;
  readonly merchantCode: string;
};

/**
 * The next step of the cardholder's browser. `redirectTo` is a page of the gateway that performs
 * all of it. The rest is for merchants who direct the browser themselves.
 */
export type PendingStep = { readonly redirectTo: string } & (
  | {
      readonly kind: "method";
      readonly transactionId: string;
      readonly methodUrl: string;
      /** The form's `threeDSMethodData`: the issuer's page then comes back to ours by itself. */
      readonly methodData: string;
      /**
       * The method data for a frame inside the gateway's own page, which only needs to know that
       * the method has run.
       */
      readonly framedMethodData: string;
    }
  | {
      readonly kind: "challenge";
      readonly acsUrl: string;
      readonly creq: string;
      /** Returns the challenge request for another window size, 01 to 05. */
      creqFor(windowSize: string): string;
    }
  | {
      readonly kind: "pares";
      readonly acsUrl: string;
      readonly pareq: string;
      readonly md: string;
      readonly termUrl: string;
    }
);
