/**
 * Renders the catalogues: errors by the ranges of their numbers, settings, log events, commands,
 * scripts, screening rules and test cards.
 */
import { loadAllActions } from "../../gateway/administration/actions.ts";
import { usageOf } from "../../gateway/cli/action-commands.ts";
import { describeSubject, loadMachineCommands } from "../../gateway/cli/commands.ts";
import { type Setting, settings } from "../../gateway/config/settings.ts";
import { events } from "../../gateway/observability/events.ts";
import { listScripts } from "../../gateway/pages/payment/assets.ts";
import { rules } from "../../gateway/screening/rules/index.ts";
import { type FailureRow, type FailureType, failures } from "../../gateway/values/failure.ts";
import { cvvOutcomes, type Outcome, scenarios } from "../../sandbox-bank/scenarios.ts";
import { renderRecipe } from "./languages.ts";
import { mono, renderTemplate, sentence, table } from "./text.ts";

type Range = {
  readonly first: number;
  readonly last: number;
  readonly title: string;
  readonly text: string;
};

// biome-ignore format: a table
const ranges: readonly Range[] = [
  { first: 1,    last: 99,   title: "Requests",             text: "The request was refused and had no effect." },
  { first: 100,  last: 999,  title: "Declines by issuer and acquirer", text: "The order was declined. The host's own code is in brackets at the end of the message, as in `[51]`." },
  { first: 1000, last: 1999, title: "Filters",              text: "The order was filtered: the gateway's own checks refused it, and nothing was sent to an acquirer." },
  { first: 2000, last: 2999, title: "3-D Secure",           text: "The order was declined, because the cardholder was not authenticated." },
  { first: 3000, last: 3999, title: "Wallets",              text: "The order was declined, because of the wallet's payment data." },
  { first: 5000, last: 5999, title: "The gateway itself",   text: "As the answer to a request: a failure of the gateway. As the result of an order: nothing is charged, or the charge has been reversed." },
];

const places: Readonly<Record<FailureType, string>> = {
  "validation-error": "reply of type `validation-error`",
  error: "reply of type `error`, or status `error` of an order",
  declined: "status `declined`",
  filtered: "status `filtered`",
};

export function renderErrorsPage(): string {
  const catalogue = ranges.flatMap(renderRange).join("\n\n");
  return renderTemplate("errors", "gateway/values/failure.ts", { catalogue });
}

function renderRange({ first, last, title, text }: Range): readonly string[] {
  const rows = Object.values<FailureRow>(failures).filter(
    ({ number }) => number >= first && number <= last,
  );
  if (rows.length === 0) return [];
  const cells = rows.map(({ number, word, type, meaning }) => [
    String(number),
    mono(word),
    last < 100 ? `reply of type ${mono(type)}` : places[type],
    sentence(meaning),
  ]);
  const head = ["`error-code`", "`error-message`", "Where", "Meaning"];
  return [`## ${title}`, text, table(head, cells)];
}

export function renderSettingsPage(): string {
  const rows = Object.values<Setting<unknown>>(settings).map(settingRow);
  return renderTemplate("settings", "gateway/config/settings.ts", {
    settings: table(["Name", "Default", "Value", "Meaning"], rows),
  });
}

/** Inserts the table of log events into a document that is otherwise written by hand. */
export function insertEvents(document: string): string {
  const rows = Object.entries(events).map(([name, [level, meaning]]) => [
    mono(name),
    level,
    sentence(meaning),
  ]);
  return insert(
    document,
    "gateway/observability/events",
    table(["`event`", "Level", "Meaning"], rows),
  );
}

/**
 * Inserts every command of `gw`, with the right that it needs and whether the portal has it too.
 */
export async function insertCommands(document: string): Promise<string> {
  const actions = (await loadAllActions()).filter(({ needsNode }) => needsNode !== true);
  const all = [...actions, ...(await loadMachineCommands())];
  const rows = all
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, does, fields, right, ...row }) => {
      const words = Object.values(fields).filter(({ isWord }) => isWord);
      const isForm = "mode" in row && actions.some((action) => action.name === name);
      const isOffered = isForm && !("commandLineOnly" in row && row.commandLineOnly !== undefined);
      return [
        mono(["gw", name, ...words.map(usageOf)].join(" ")),
        sentence(does.en || describeSubject(name)),
        right === undefined ? "none" : mono(right),
        isOffered ? "yes" : "",
      ];
    });
  const head = ["Command", "What it does", "Right", "In the portal"];
  return insert(document, "gateway/administration/actions", table(head, rows));
}

/** Inserts the inventory of scripts into the page about the payment page. */
export function insertScripts(document: string): string {
  const rows = listScripts().map(({ name, page, digest, reason }) => [
    mono(name),
    page,
    sentence(reason),
    mono(digest),
  ]);
  const head = ["Script", "Page", "Why it is there", "Digest"];
  return insert(document, "gateway/pages/payment/assets", table(head, rows));
}

/** Inserts the screening rules with their parameters. */
export function insertRules(document: string): string {
  const sections = rules.map(({ kind, documentation, parameters }) => {
    const rows = Object.entries(parameters).map(([name, parameter]) => [
      mono(name),
      parameter.necessity,
      parameter.type.en.replaceAll("|", ", "),
      sentence(parameter.documentation.en),
    ]);
    const head = ["Parameter", "Necessity", "Value", "Meaning"];
    return `### ${mono(kind)}\n\n${documentation.en}\n\n${table(head, rows)}`;
  });
  return insert(document, "gateway/screening/rules", sections.join("\n\n"));
}

/** Inserts every example that the document has a place for. */
export function insertRecipes(document: string): string {
  const places = document.matchAll(/<!-- Generated from tools\/documents\/recipes: ([\w-]+)\./g);
  return [...places].reduce(
    (changed, [, name = ""]) =>
      insert(changed, `tools/documents/recipes: ${name}\\.`, renderRecipe(name)),
    document,
  );
}

/** Replaces the part of the document that is generated from the source. */
function insert(document: string, source: string, text: string): string {
  const part = new RegExp(`(<!-- Generated from ${source}.*-->\\n)[\\s\\S]*?(<!-- End of)`);
  if (!part.test(document)) throw new Error(`The document has no part generated from ${source}.`);
  return document.replace(part, (_, head, end) => `${head}\n${text}\n\n${end}`);
}

function settingRow({ name, staging, production, expects, meaning }: Setting<unknown>) {
  const [first, second] = [show(name, staging), show(name, production)];
  const shown = first === second ? first : `${first} in staging, ${second} in production`;
  return [mono(name), shown, expects, sentence(meaning)];
}

function show(name: string, value: unknown): string {
  if (value === "") return "none";
  if (typeof value === "boolean") return mono(value ? "on" : "off");
  if (Array.isArray(value)) return mono(value.map((each) => Number(each) / 1000).join(","));
  const inSeconds = typeof value === "number" && name.endsWith("_S") && !name.endsWith("_PER_S");
  return mono(String(inSeconds ? value / 1000 : value));
}

/** Renders the sandbox bank's catalogue, by its groups. */
export function renderTestCardsPage(): string {
  const groups = Object.entries(Object.groupBy(scenarios, ({ group }) => group));
  const cards = groups.map(([group, rows = []]) => {
    const cells = rows.map(({ card, name, what }) => [mono(card), mono(name), effectOf(what)]);
    return `## ${group}\n\n${table(["Card", "Name", "What happens"], cells)}`;
  });
  const cvvs = [...cvvOutcomes].map(([cvv, outcome]) => [
    cvv === "" ? "none" : mono(cvv),
    outcome.kind === "decline" ? effectOf(outcome.code) : cvvWords(outcome),
  ]);
  return renderTemplate("test-cards", "sandbox-bank/scenarios.ts", {
    cards: cards.join("\n\n"),
    cvvs: table(["CVV", "What happens"], cvvs),
  });
}

/** Describes the effect of a card. A plain decline is only a response code in the catalogue. */
function effectOf(what: string): string {
  return sentence(/^\w\d$/.test(what) ? `declined with the host's response code ${what}` : what);
}

function cvvWords({ kind }: Outcome): string {
  return kind === "approve" ? "Approved." : "The host books the charge and never answers.";
}
