/**
 * The shape of the failure catalogue. `validation-error` and `error` are types of a reply, the
 * others say how an order ended.
 */
export type FailureType = "validation-error" | "error" | "declined" | "filtered";

export type Row = {
  readonly type: FailureType;
  readonly number: number;
  readonly word: string;
  readonly meaning: string;
};
