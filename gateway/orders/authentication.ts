/**
 * The 3-D Secure authentication of an order: its progress and its result. It contains ids and
 * addresses, never a card number.
 */

/** The result of the authentication that merchants and acquirers receive. */
export type Authentication = {
  /**
   * Undefined if a wallet has proved the authentication, because then no 3-D Secure was performed.
   */
  readonly status?: "AUTHENTICATED" | "NOT_AUTHENTICATED" | "UNSUPPORTED";
  readonly eci: string | undefined;
  /** The proof for the issuer (CAVV, AAV) in base64. A wallet's proof is never stored here. */
  readonly value?: string;
  /** The directory server's id of the authentication, which some networks want in the charge. */
  readonly directoryTransactionId?: string;
};

/** An authentication in progress. */
export type ThreeDSecure = {
  /** The name of the directory server. */
  readonly directory: string;
  /** 2.1.0, 2.2.0, 2.3.1 or 1.0.2. */
  readonly version: string;
  /**
   * The gateway's id of the authentication; the xid in 1.0.2. A result message names the order by
   * it.
   */
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

/** The properties of the cardholder's browser, by their names in 3-D Secure. */
export type SeenBrowser = {
  /** Whether the issuer's method has run: Y for yes, N for no, and U if the issuer has none. */
  readonly completion: "Y" | "N" | "U";
  /**
   * The URL to which the issuer sends the result of the challenge. Undefined means the gateway's
   * own page.
   */
  readonly notificationUrl?: string;
  readonly properties: Readonly<Record<string, string>>;
};

/** A challenge, in which the cardholder identifies to the issuer (2.x). */
export type Challenge = {
  readonly acsUrl: string;
  readonly acsTransactionId: string;
  readonly directoryTransactionId: string;
  /** The challenge request, as the form contains it. */
  readonly creq: string;
};

/** The request to the issuer in 3-D Secure 1.0.2. */
export type PayerRequest = {
  readonly acsUrl: string;
  /** The packed PAReq, as the form contains it. */
  readonly pareq: string;
  /** The date in the PAReq. The answer must contain the same date. */
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
      /**
       * The form's `threeDSMethodData`. With it, the issuer's page returns to the gateway by
       * itself.
       */
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
