/** A thread that replies at once, a turn later, only when it is cancelled, or never again. */
import { serveRequests } from "../worker-thread.ts";

export type TestRequest = {
  readonly text: string;
  readonly when: "now" | "later" | "cancelled" | "never";
};

serveRequests<TestRequest, string>(({ text, when }, reply) => {
  while (when === "never");
  if (when === "now") reply(text);
  if (when === "later") setImmediate(() => reply(text));
  return when === "cancelled" ? () => reply(`cancelled ${text}`) : undefined;
});
