/** Errors of the start that an operator can put right, as sentences. */
import type { Config } from "../config/config.ts";
import { Problem } from "../values/problem.ts";

export function explainListening(error: unknown, config: Config): Problem {
  const { host } = config;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const port = error instanceof Error && "port" in error ? error.port : config.port;
  const setting = port === config.resultsPort ? "GW_RESULTS_PORT" : "GW_PORT";
  if (code === "EADDRINUSE") {
    return new Problem(
      `Port ${port} is in use: stop the program that has it, or set ${setting} ` +
        "(0 takes a free one).",
    );
  }
  if (code === "EACCES") {
    return new Problem(`Port ${port} may not be used by this user: set ${setting} above 1023.`);
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new Problem(`${host} is no address of this machine: set GW_HOST to one that is.`);
  }
  throw error;
}
