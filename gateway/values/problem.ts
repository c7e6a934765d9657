/**
 * A problem that the operator can solve, as one or more sentences that say how. It is returned and
 * never thrown: a stack trace would not help the reader.
 */
import type { FailureCode } from "./failure.ts";
import type { Right } from "./roles.ts";

/** Tells a program how to handle the problem. A problem without a code needs a person. */
type ProblemCode =
  | FailureCode
  | (
      | "card_number"
      | "invalid_input"
      | "moved_on"
      | "not_allowed"
      | "not_found"
      | "not_now"
      | "nothing_found"
    )
  | ("own_account" | "refused" | "second_person" | "taken");

export class Problem {
  readonly sentence: string;
  readonly code: ProblemCode | undefined;
  /** The field that the problem concerns, by its name in code. A form shows the problem there. */
  readonly field: string | undefined;

  constructor(sentence: string, code?: ProblemCode, field?: string) {
    this.sentence = sentence;
    this.code = code;
    this.field = field;
  }

  about(field: string): Problem {
    return new Problem(this.sentence, this.code, field);
  }
}

/** The user's role lacks the right. Nothing was done, and the audit records the attempt. */
export class NotAllowed extends Problem {
  readonly right: Right;

  constructor(sentence: string, right: Right) {
    super(sentence, "not_allowed");
    this.right = right;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
