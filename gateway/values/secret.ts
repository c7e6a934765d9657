/**
 * A value that must not be seen: it prints as `[secret]` wherever something tries to print it.
 * Taking it out is `reveal()`, which may be called only in the files that the tidy test lists.
 */
import { inspect } from "node:util";

export class Secret<Value> {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  reveal(): Value {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}
