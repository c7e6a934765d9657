/** Orders, and those in doubt. */
import type { Command } from "commander";

export function addOrderCommands(program: Command): void {
  program
    .command("order")
    .description("look at orders")
    .command("show <orderid>")
    .description("show an order and everything that happened to it")
    .option("--json", "as JSON")
    .action(async (order, options) => (await import("../order.ts")).showOrder(order, options));

  const doubt = program
    .command("doubt")
    .description("orders that the bank may have done something for or not");
  doubt
    .command("list")
    .description("list them, the oldest first")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../doubt.ts")).listDoubt(options));
  doubt
    .command("ask <orderid>")
    .description("have the gateway ask the bank again at once")
    .requiredOption("--reason <text>", "why; kept with the order")
    .option("--by <name>", "who; the user of this command unless said")
    .option("--json", "as JSON")
    .action(async (order, options) => (await import("../doubt.ts")).askAgain(order, options));
  doubt
    .command("settle <orderid>")
    .description("settle it by what the bank has told you")
    .requiredOption("--as <outcome>", "done (the bank did it) or not-done (it did not)")
    .requiredOption("--reason <text>", "how you know; kept with the order")
    .option("--by <name>", "who; the user of this command unless said")
    .option("--json", "as JSON")
    .action(async (order, options) => (await import("../doubt.ts")).settleByHand(order, options));
}
