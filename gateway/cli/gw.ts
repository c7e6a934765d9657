#!/usr/bin/env node
/** The command line: one file per command, and this list of them. */
import { Command } from "commander";

const program = new Command("gw")
  .description("Tollgate, a card payment gateway that you run yourself")
  .version("0.1.0");

program
  .command("start")
  .description("everything with one command: database, sandbox bank (staging), gateway")
  .action(async () => (await import("./start.ts")).start());

program
  .command("serve")
  .description("one gateway node: the merchant interface and the work behind it")
  .action(async () => (await import("./serve.ts")).serve());

program
  .command("config")
  .description("print every setting with its value, where that comes from, and what it means")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./config.ts")).printConfig(options));

program
  .command("migrate")
  .description("bring the database's schema up to date")
  .action(async () => (await import("./migrate.ts")).migrateHouse());

program
  .command("doctor")
  .description("look for what is wrong with this installation")
  .action(async () => (await import("./doctor.ts")).examine());

const merchant = program.command("merchant").description("make and show merchants");
merchant
  .command("create <login>")
  .description("make a merchant; in staging with the demonstration's set of endpoints")
  .option("--json", "as JSON")
  .action(async (login, options) => (await import("./merchant.ts")).createMerchant(login, options));
merchant
  .command("list")
  .description("list all merchants")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./merchant.ts")).listMerchants(options));
merchant
  .command("show <login>")
  .description("show a merchant with its endpoints, groups and control key")
  .option("--json", "as JSON")
  .action(async (login, options) => (await import("./merchant.ts")).showMerchant(login, options));

program
  .command("endpoint")
  .description("make endpoints")
  .command("create <login> <name>")
  .description("make an endpoint of a merchant")
  .requiredOption("--currency <code>", "three-letter currency code")
  .option("--gate <name>", "the gate behind it", "sandbox")
  .option("--3ds <policy>", "off, when_possible or always", "off")
  .option("--min <amount>", "smaller amounts are filtered")
  .option("--max <amount>", "larger amounts are filtered")
  .option("--descriptor <text>", "what the cardholder's statement shows")
  .option("--optional <fields>", "sale fields not insisted on, by commas")
  .option("--json", "as JSON")
  .action(async (login, name, options) =>
    (await import("./endpoint.ts")).createEndpoint(login, name, options),
  );

program
  .command("group")
  .description("make endpoint groups")
  .command("create <login> <name> <endpoints...>")
  .description("make a group of a merchant's endpoints, one per currency")
  .option("--json", "as JSON")
  .action(async (login, name, endpoints, options) =>
    (await import("./group.ts")).createGroup(login, { name, endpoints }, options),
  );

program
  .command("order")
  .description("look at orders")
  .command("show <orderid>")
  .description("show an order and everything that happened to it")
  .option("--json", "as JSON")
  .action(async (order, options) => (await import("./order.ts")).showOrder(order, options));

await program.parseAsync();
