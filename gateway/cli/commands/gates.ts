/** The ways to acquirers. */
import type { Command } from "commander";

export function addGateCommands(program: Command): void {
  const gate = program.command("gate").description("the ways to the acquirers");
  gate
    .command("list")
    .description("list all gates")
    .option("--json", "as JSON")
    .action(async (options) => (await import("../gate.ts")).listGates(options));
  gate
    .command("show <name>")
    .description("show a gate with its settings and the endpoints that use it")
    .option("--json", "as JSON")
    .action(async (name, options) => (await import("../gate.ts")).showGate(name, options));
  withGateOptions(gate.command("create <name>"))
    .description("make a gate")
    .action(async (name, options) => (await import("../gate.ts")).createGate(name, options));
  withGateOptions(gate.command("set <name>"))
    .description("change a gate: what is not given stays")
    .action(async (name, options) => (await import("../gate.ts")).setGate(name, options));
  gate
    .command("remove <name>")
    .description("remove a gate that no endpoint uses")
    .action(async (name) => (await import("../gate.ts")).removeGate(name));
}

function withGateOptions(command: Command): Command {
  return command
    .option("--kind <kind>", "what the host speaks: sandbox or iso87_binary")
    .option("--host <address:port>", "where the host listens")
    .option("--terminal <id>", "field 41 of every message")
    .option("--merchant-code <code>", "field 42")
    .option("--name-and-place <text>", "field 43")
    .option("--category <digits>", "field 18, the merchant category")
    .option("--country <digits>", "field 19, the acquirer's country")
    .option("--acquirer-id <digits>", "field 32")
    .option("--descriptor <text>", "what the cardholder's statement shows")
    .option("--without-cvv", "the acquirer takes payments without CVV")
    .option("--with-cvv", "it does not (as without either option)")
    .option("--partial-reversal", "it can give back a part (as without either option)")
    .option("--no-partial-reversal", "it cannot")
    .option("--partial-capture", "it can take a part of what is held (as without either option)")
    .option("--no-partial-capture", "it cannot")
    .option("--currencies <codes>", "only these, by commas; all for every currency")
    .option("--min <minor>", "smaller amounts go through another gate; none for no limit")
    .option("--max <minor>", "larger amounts go through another gate; none for no limit")
    .option("--fee <fee>", "what the acquirer keeps, like 2.5%+30; none for no fee")
    .option("--recurrent-initiator <word>", "CARDHOLDER or MERCHANT, unless the payment says it")
    .option("--recurrent-scenario <word>", "REGULAR or IRREGULAR, unless the payment says it")
    .option("--sandbox", "it leads to a sandbox bank: production refuses it")
    .option("--no-sandbox", "it does not")
    .option("--json", "as JSON");
}
