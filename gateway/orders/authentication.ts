/**
 * The 3-D Secure authentication of an order, with its progress and result. It never contains a card
 * number.
 */

/** The result of the authentication, for merchants and acquirers. */
export type Authentication = {
  /** Undefined if a wallet has proved the authentication, without 3-D Secure. */
  readonly status?: "AUTHENTICATED" | "NOT_AUTHENTICATED" | "UNSUPPORTED";
  readonly eci: string | undefined;
  /** The proof for the issuer (CAVV, AAV) in base64. A wallet's proof is never stored here. */
  readonly value?: string;
  /** The directory server's id of the authentication, which some networks want in the charge. */
  readonly directoryTransactionId?: string;
};

export type ThreeDSecure = {
  readonly directory: string;
  /** The version is 2.1.0, 2.2.0, 2.3.1 or 1.0.2. */
  readonly version: string;
  /** The gateway's id of the authentication (xid in 1.0.2), which names the order in results. */
  readonly transactionId: string;
  readonly methodUrl?: string;
  readonly browser?: SeenBrowser;
  readonly challenge?: Challenge;
  readonly payerRequest?: PayerRequest;
};

export type EndedThreeDSecure = Pick<ThreeDSecure, "directory" | "version" | "transactionId"> & {
  readonly challenge?: Pick<Challenge, "acsTransactionId" | "directoryTransactionId">;
};

/** The cardholder's browser. Its properties have their names in 3-D Secure. */
export type SeenBrowser = {
  /** Whether the issuer's method has run: Y for yes, N for no, and U if the issuer has none. */
  readonly completion: "Y" | "N" | "U";
  /** Where the issuer sends the challenge's result; undefined for the gateway's own page. */
  readonly notificationUrl?: string;
  readonly properties: Readonly<Record<string, string>>;
};

/** In a challenge (2.x), the cardholder proves their identity to the issuer. */
export type Challenge = {
  readonly acsUrl: string;
  readonly acsTransactionId: string;
  readonly directoryTransactionId: string;
  readonly creq: string;
};

/** The request to the issuer in 3-D Secure 1.0.2. */
export type PayerRequest = {
  readonly acsUrl: string;
  readonly pareq: string;
  /** The date in the PAReq, which the answer must repeat. */
  readonly date: string;
  readonly acquirerBin: string;
  readonly merchantCode: string;
};

/**
 * The browser's next step. `redirectTo` is a page of the gateway that does all of it; the rest is
 * for merchants who direct the browser themselves.
 */
export type PendingStep = { readonly redirectTo: string } & (
  | {
      readonly kind: "method";
      readonly transactionId: string;
      readonly methodUrl: string;
      /** The form's `threeDSMethodData`, with which the issuer's page returns to the gateway. */
      readonly methodData: string;
      /** The method data for a frame in the gateway's own page. */
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
