/** Records a simulation: its hash, the same for the same seed, and a readable story. */
import { createHash } from "node:crypto";
import type { VirtualTime } from "./virtual-time.ts";

export type Line = {
  readonly atMs: number;
  readonly text: string;
  /** The order, the client order id or the reference of the line; empty for all of them. */
  readonly about: string;
};

export type Story = ReturnType<typeof makeStory>;

export function makeStory(time: VirtualTime) {
  const lines: Line[] = [];
  const hash = createHash("sha256");
  return {
    tell(text: string, about = ""): void {
      lines.push({ atMs: time.now(), text, about });
      hash.update(`${time.now()} ${text} ${about}\n`);
    },
    /** Adds to the hash what is too frequent for the story. */
    note: (text: string) => void hash.update(`${time.now()} ${text}\n`),
    digest: () => hash.digest("hex").slice(0, 16),
    /** Returns the lines about these names, and those about all. */
    linesAbout(names: ReadonlySet<string>): readonly string[] {
      const chosen = lines.filter(({ about }) => about === "" || names.has(about));
      return chosen.map(({ atMs, text }) => `${(atMs / 1000).toFixed(3).padStart(10)}  ${text}`);
    },
  };
}
