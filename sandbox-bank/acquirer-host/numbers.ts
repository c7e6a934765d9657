/** The numbers that approvals carry: never given twice, not even after a restart. */
export type ApprovalNumbers = {
  readonly networkTransactionId: string;
  readonly approvalCode: string;
};

export class Numbers {
  // A hundred per millisecond since 1970 makes 15 digits, and counting never catches up with time.
  #last = Date.now() * 100;
  /** Numbers only: as many live objects as there were sales would cost every sale. */
  readonly #first = new Map<string, number>();

  /** For a new approval of the charge. */
  next(reference: string): ApprovalNumbers {
    this.#last += 1;
    if (!this.#first.has(reference)) this.#first.set(reference, this.#last);
    return write(this.#last);
  }

  /** Those that the charge was given first; made up when it was given none, and then kept. */
  of(reference: string): ApprovalNumbers {
    const first = this.#first.get(reference);
    return first === undefined ? this.next(reference) : write(first);
  }
}

function write(number: number): ApprovalNumbers {
  const approvalCode = (number % 36 ** 6).toString(36).toUpperCase().padStart(6, "0");
  return { networkTransactionId: String(number), approvalCode };
}
