/**
 * A value that must not appear in logs or replies: it prints as `[secret]`. Only the files that the
 * tidy test lists may call `reveal()`.
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
