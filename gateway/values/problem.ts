/**
 * A problem that the operator can solve, as one or more sentences that say how. It is returned and
 * never thrown: a stack trace would not help the reader.
 */
export class Problem {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
