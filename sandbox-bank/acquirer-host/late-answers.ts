/**
 * Approvals held back until the gateway gives up. The reversal of the charge is the sign of that,
 * so the approval is late whatever the gateway's time-out; without one it comes after two minutes.
 */
import type { Line } from "./desk.ts";

const heldMs = 120_000;

type Held = {
  readonly line: Line;
  readonly approve: (line: Line) => void;
  readonly timer: NodeJS.Timeout;
};

export class LateAnswers {
  readonly #held = new Map<string, Held[]>();

  hold(reference: string, line: Line, approve: (line: Line) => void): void {
    const timer = setTimeout(() => this.release(reference, line), heldMs);
    const held = this.#held.get(reference) ?? [];
    held.push({ line, approve, timer });
    this.#held.set(reference, held);
  }

  /** Approves what is held for the reference; on another line when its own is gone. */
  release(reference: string, otherLine: Line): void {
    const held = this.#held.get(reference) ?? [];
    this.#held.delete(reference);
    for (const { line, approve, timer } of held) {
      clearTimeout(timer);
      approve(line.isOpen() ? line : otherLine);
    }
  }

  /** What is held is forgotten, unbooked. */
  close(): void {
    for (const { timer } of [...this.#held.values()].flat()) clearTimeout(timer);
    this.#held.clear();
  }
}
