/**
 * The types of hosted fields, whose script a shop's page loads from the gateway:
 *
 *   <script src="https://pay.example/sdk/hosted-fields/v1/index.js"></script>
 *
 * The script defines a global and calls `onHostedFieldsReady`, so a page imports only the types:
 * `import type {} from "@tollgate/client/hosted-fields"`.
 */

/** Values are CSS. Any other property, and a value that could load a file, is dropped. */
export type HostedFieldsCss = {
  readonly [Property in
    | "color"
    | "backgroundColor"
    | "caretColor"
    | "fontFamily"
    | "fontSize"
    | "fontWeight"
    | "fontStyle"
    | "fontVariantNumeric"
    | "letterSpacing"
    | "lineHeight"
    | "textAlign"
    | "padding"
    | "border"
    | "outline"
    | "transition"]?: string | number;
};

export type HostedFieldsStyle = {
  readonly input?: HostedFieldsCss;
  readonly placeholder?: HostedFieldsCss;
  readonly focus?: HostedFieldsCss;
};

export type HostedField = {
  readonly type: "pan" | "exp" | "cvv";
  readonly placeholder?: string;
  readonly style?: HostedFieldsStyle;
};

export type HostedFieldsError = {
  /** 4000 to 4999 spend the ticket. */
  readonly code: number;
  /** `message` and `tip` are for the shop's log. */
  readonly message: string;
  readonly tip?: string;
  /** The id of the element with the field that is wrong. */
  readonly field?: string;
  /** A sentence for the cardholder in the page's language. */
  readonly payerMessage?: string;
};

export type HostedFieldsOptions = {
  readonly endpointId: string | number;
  /** The keys are the ids of the empty elements that get the fields. */
  readonly fields: Readonly<Record<string, HostedField>>;
  readonly onReady?: () => void;
  readonly onToken: (hostedFieldsToken: string) => void;
  readonly onError: (error: HostedFieldsError) => void;
  /** Gets the network of the card that is being typed, such as `VISA`. */
  readonly onNetwork?: (network: string | undefined) => void;
};

export type HostedFieldsInstance = {
  /** Exchanges the card for a token. A ticket serves one successful exchange. */
  tokenize(ephemeralTicket: string): void;
  setStyle(elementId: string, style: HostedFieldsStyle): void;
  destroy(): void;
};

export type HostedFieldsScript = {
  init(options: HostedFieldsOptions): HostedFieldsInstance;
};

declare global {
  interface Window {
    HostedFields?: HostedFieldsScript;
    /** Called once when the script has loaded, also if the page assigns it within 5 seconds. */
    onHostedFieldsReady?: (hostedFields: HostedFieldsScript) => void;
  }
}
