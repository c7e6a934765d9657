/** Where payments come in, alone and in groups. */
import type { Command } from "commander";

export function addEndpointCommands(program: Command): void {
  const endpoint = program.command("endpoint").description("make and change endpoints");
  endpoint
    .command("list <login>")
    .description("list a merchant's endpoints with their gates")
    .option("--json", "as JSON")
    .action(async (login, options) =>
      (await import("../endpoint.ts")).listEndpoints(login, options),
    );
  withEndpointOptions(endpoint.command("create <login> <name>"))
    .description("make an endpoint of a merchant")
    .requiredOption("--currency <code>", "three-letter currency code")
    .option("--gate <name:rank:weight>", "a gate behind it, may be repeated (sandbox)", collect)
    .action(async (login, name, options) =>
      (await import("../endpoint.ts")).createEndpoint(login, name, options),
    );
  withEndpointOptions(endpoint.command("set <endpointid>"))
    .description("change an endpoint: what is not given stays, `none` takes a setting away")
    .option("--enable", "requests are accepted")
    .option("--disable", "requests are refused as if there were no such endpoint")
    .action(async (id, options) => (await import("../endpoint.ts")).setEndpoint(id, options));
  endpoint
    .command("gates <endpointid> <name:rank:weight...>")
    .description("set the gates behind an endpoint anew: the lowest rank first, shared by weight")
    .option("--json", "as JSON")
    .action(async (id, gates, options) =>
      (await import("../endpoint.ts")).setEndpointGates(id, gates, options),
    );

  program
    .command("group")
    .description("make endpoint groups")
    .command("create <login> <name> <endpoints...>")
    .description("make a group of a merchant's endpoints, one per currency")
    .option("--json", "as JSON")
    .action(async (login, name, endpoints, options) =>
      (await import("../group.ts")).createGroup(login, { name, endpoints }, options),
    );
}

function withEndpointOptions(command: Command): Command {
  return command
    .option("--3ds <policy>", "off, when_possible or always")
    .option("--min <amount>", "smaller amounts are filtered")
    .option("--max <amount>", "larger amounts are filtered")
    .option("--descriptor <text>", "what the cardholder's statement shows")
    .option("--optional <fields>", "sale fields not insisted on, by commas")
    .option("--fee <fee>", "what the seller pays, like 2.5%+30")
    .option("--partial-approvals <on|off>", "an approval of less than was asked for stands")
    .option("--callbacks <GET|POST>", "how callbacks are sent")
    .option("--oauth-only <on|off>", "only v4 requests are taken, those signed by OAuth")
    .option("--json", "as JSON");
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}
