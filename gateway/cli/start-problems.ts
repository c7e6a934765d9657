/** Errors of the start that an operator can put right, as sentences. */
import type { Config } from "../config.ts";
import { StartProblem } from "../storage/embedded.ts";

export function explainListening(error: unknown, { host, port }: Config): StartProblem {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new StartProblem(
      `Port ${port} is in use: stop the program that has it, or set GW_PORT (0 takes a free one).`,
    );
  }
  if (code === "EACCES") {
    return new StartProblem(`Port ${port} may not be used by this user: set GW_PORT above 1023.`);
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new StartProblem(`${host} is no address of this machine: set GW_HOST to one that is.`);
  }
  throw error;
}
