/** What merchants were told. */
import type { Command } from "commander";

export function addCallbackCommands(program: Command): void {
  const callback = program
    .command("callback")
    .description("what merchants were told of their transactions, and telling it again");
  callback
    .command("list")
    .description("list callbacks, the latest first")
    .option("--order <orderid>", "only those of one order")
    .option("--since <moment>", "only of results from then on, like 2030-01-31T09:30:00Z")
    .option("--until <moment>", "only of results up to then")
    .option("--state <state>", "only these: due, delivered, stopped or given_up")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../callback.ts")).listCallbacks(options));
  callback
    .command("show <orderid> [sequence]")
    .description("show the callbacks of an order, with every try")
    .option("--json", "as JSON")
    .action(async (order, sequence, options) =>
      (await import("../callback.ts")).showCallback(order, sequence, options),
    );
  callback
    .command("resend [orderid] [sequence]")
    .description("send again: one, all of an order, or those of a range of time")
    .option("--since <moment>", "results from then on")
    .option("--until <moment>", "results up to then")
    .option("--state <state>", "only these: due, delivered, stopped or given_up")
    .option("--json", "as JSON")
    .action(async (order, sequence, options) =>
      (await import("../callback.ts")).resendCallback(order, sequence, options),
    );
  callback
    .command("listen")
    .description("listen on this machine for callbacks, and print them: for development")
    .option("--port <port>", "where", "9099")
    .option("--answer <status>", "what to answer with", "200")
    .action(async (options) => (await import("../callback-listen.ts")).listenForCallbacks(options));
  callback
    .command("secret <endpointid>")
    .description("print the secret that a merchant verifies the signatures of forms with")
    .option("--renew", "make a new one; for a day forms are signed with the old one too")
    .option("--retire", "sign with the old one no more, from now on")
    .option("--json", "as JSON")
    .action(async (id, options) =>
      (await import("../callback-secret.ts")).printSecret(id, options),
    );
}
