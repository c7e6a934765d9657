/** The numbers that an approval carries: never given twice, not even after a restart. */
export class Numbers {
  // A hundred per millisecond since 1970 makes 15 digits, and counting never catches up with time.
  #last = Date.now() * 100;

  next(): { readonly networkTransactionId: string; readonly approvalCode: string } {
    this.#last += 1;
    const approvalCode = (this.#last % 36 ** 6).toString(36).toUpperCase().padStart(6, "0");
    return { networkTransactionId: String(this.#last), approvalCode };
  }
}
