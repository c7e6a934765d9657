/** What a call to the gateway is made of: fields in, fields out, and the operation's facts. */

export type ReplyFields = { readonly [name: string]: string | undefined };
export type RequestFields = { readonly [name: string]: string | undefined };
export type CallOptions = { readonly signal?: AbortSignal };

/** `{id}` is the number in the path; the merchant control key is always the last, and not here. */
export type ControlTerm =
  | string
  | { readonly minorUnitsOf: string }
  /** Amount in minor units and currency; nothing when no amount is sent. */
  | { readonly moneyIfSent: string };

/** Requests are signed by a checksum in v2, and by OAuth in v4. */
export type Version = "v2" | "v4";

export type OperationFacts = {
  /** After `/{word}/api`, in one of its versions. */
  readonly path: string;
  readonly versions: readonly Version[];
  readonly control: readonly ControlTerm[];
  readonly takesLogin: boolean;
  /** An identical request is answered as the first one was. */
  readonly repeatable: boolean;
  /** The gateway answers when there is a result, or when its time for waiting is over. */
  readonly waits: boolean;
};

export type Deliver = <Reply extends ReplyFields>(
  operation: OperationFacts,
  isReply: (fields: ReplyFields) => fields is Reply,
  request: RequestFields,
  options: CallOptions | undefined,
) => Promise<Reply>;
