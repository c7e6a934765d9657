/**
 * Expected trouble at start, as one sentence that says what to do. Returned and never thrown: the
 * person at the terminal can put it right, so a stack trace would only be in the way.
 */
export class StartProblem {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}
